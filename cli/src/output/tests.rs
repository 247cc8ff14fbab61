//! What is printed commands no terminal and is folded between words; questions are asked until they are answered.

use super::*;

/// What a hostile title may hold: escape sequences of either kind, a bell, line breaks, a turned direction.
const HOSTILE: &str = "\u{1b}]0;x\u{7} \u{9b}31m \r\n \u{7f} \u{202e} \u{fdd3}";
const ESCAPED: &str = r"\u{1b}]0;x\u{7} \u{9b}31m \u{d}\u{a} \u{7f} \u{202e} \u{fdd3}";

fn written(line: &Line, width: Option<usize>) -> String {
    let mut out = Vec::new();
    write_line(&mut out, line, width).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn whatever_is_printed_commands_no_terminal() {
    let line = Line::from(HOSTILE);
    assert_eq!(written(&line, None), format!("{ESCAPED}\n"));
    assert_eq!(line.to_string(), ESCAPED);
    assert_eq!(printable_lines("a\tb\nc"), "a\\u{9}b\nc");
}

#[test]
fn styled_text_is_colored_and_escaped_all_the_same() {
    let line = Line::from([removed("a\u{1b}[2J"), plain(" "), strong("b")]);
    assert_eq!(written(&line, None), "\u{1b}[31ma\\u{1b}[2J\u{1b}[0m \u{1b}[1mb\u{1b}[0m\n");
}

#[test]
fn a_terminal_folds_a_line_between_its_words() {
    let words = ["12", "p1", "tap 1,2", "=>", "placed order=1 at=1,2;", "queued"];
    let spans = words.iter().enumerate().map(|(index, word)| TextSpan { is_word: index > 0, ..plain(word) });
    let line = Line(spans.collect());
    assert_eq!(written(&line, None), "12 p1 tap 1,2 => placed order=1 at=1,2; queued\n");
    assert_eq!(written(&line, None), format!("{line}\n"));
    let folded = "12 p1 tap 1,2 =>\n    placed order=1 at=1,2;\n    queued\n";
    assert_eq!(written(&line, Some(26)), folded);
    let narrower = "12 p1 tap 1,2 => placed\n    order=1 at=1,2;\n    queued\n";
    assert_eq!(written(&line, Some(24)), narrower);
}

#[test]
fn what_is_no_answer_is_asked_again_and_the_end_is_the_last_letter() {
    let mut printed = String::new();
    let mut asked = |answers: &str| {
        printed.clear();
        let mut print = |span: TextSpan| {
            printed.push_str(&span.text);
            Ok(())
        };
        let letter = ask("sure?", &["y", "n"], "y or n\n", &mut answers.as_bytes(), &mut print).unwrap();
        (letter, printed.matches("sure?").count())
    };
    assert_eq!(asked("y\n"), ("y", 1));
    assert_eq!(asked("n\ny\n"), ("n", 1));
    assert_eq!(asked("yes\n\nY\ny\n"), ("y", 4));
    assert_eq!(asked(""), ("n", 1));
    assert_eq!(asked("what\n"), ("n", 2));
}

#[test]
fn text_on_a_color_of_the_game_is_black_or_white() {
    let style = tinted(Tint::Rgb(0x12_34_56));
    assert_eq!(format!("{style}A1{style:#}"), "\u{1b}[38;2;255;255;255m\u{1b}[48;2;18;52;86mA1\u{1b}[0m");
}

#[test]
fn a_line_is_folded_between_its_words() {
    for (line, expected) in [
        ("one two three", "one two three"),
        ("one two three four five six", "one two three four\n    five six"),
        ("  indented words stand further", "  indented words\n      stand further"),
        ("https://example.org/a/long/address is whole", "https://example.org/a/long/address\n    is whole"),
        ("ends  ", "ends  "),
        ("", ""),
        (
            "\u{1b}[1mone two three\u{1b}[0m \u{1b}[2mfour five\u{1b}[0m",
            "\u{1b}[1mone two three\u{1b}[0m \u{1b}[2mfour\n    five\u{1b}[0m",
        ),
    ] {
        assert_eq!(folded(line, 20), expected);
        assert_eq!(folded_lines(line, None), line);
    }
    assert_eq!(folded_lines("a b\n\nc", Some(20)), "a b\n\nc");
}
