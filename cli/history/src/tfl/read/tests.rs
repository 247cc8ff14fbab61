//! Each kind of malformed file, with the place and the message it gets.

use super::*;
use crate::input::Limits;

const HEADER: &str = "ruleset = \"initiative\"\nversion = 1\ndice = \"recorded\"\n[setup]\nradius = 3\n";

/// Requires the bytes to be refused with exactly this message.
fn check(bytes: &[u8], expected: &str) {
    let error = read("x.tfl", bytes, &turnfold_games::standard()).expect_err("this is malformed").to_string();
    assert_eq!(error, format!("x.tfl:{expected}"));
}

/// Checks a file with this text after the header, which is its ninth line.
fn check_body(body: &str, expected: &str) {
    check(format!("{FIRST_LINE}\n+++\n{HEADER}+++\n{body}").as_bytes(), &format!("9:{expected}"));
}

/// Checks a file with this text as its header, which begins on the third line.
fn check_header(header: &str, expected: &str) {
    check(format!("{FIRST_LINE}\n+++\n{header}\n+++\n").as_bytes(), expected);
}

#[test]
fn all_kinds_of_lines_are_read_and_written_back() {
    let hash = "0123456789abcdef";
    let body = format!(
        "\n# comment, with \" and  spaces\n#\n1 host roll 1 2 3 4\n2 p1 say \"a  => #b \\\" c\" => said text=\"; #1\"; x #{hash}\n\
         ! p2 stand\n3 p1 stand #{hash}\n! p8 x => rejected not_your_turn\n= 3 state {0} log {0} header {1}\n",
        hash.repeat(4),
        hash.repeat(2)
    );
    let text = format!("{FIRST_LINE}\n+++\n{HEADER}+++\n{body}");
    let replay = read("x.tfl", text.as_bytes(), &turnfold_games::standard()).unwrap();
    assert_eq!(replay.to_string(), text);
    let quoted = replay.entries().nth(1).unwrap();
    assert_eq!(quoted.command.to_string(), "say \"a  => #b \\\" c\"");
    assert_eq!(quoted.outcome.as_ref().map(ToString::to_string).as_deref(), Some("said text=\"; #1\"; x"));
    assert_eq!((replay.entries().count(), replay.lines.len()), (3, 8));
}

#[test]
fn the_encoding_is_utf_8_without_a_byte_order_mark() {
    check(b"turnfold replay 2\n\xc3\xa4\xff", "2:2: expected UTF-8 text, found byte 0xff");
    check(b"\xef\xbb\xbfturnfold replay 2\n", "1:1: expected `turnfold replay 2`, found a byte order mark");
}

#[test]
fn the_first_line_names_the_format() {
    check(b"", "1:1: expected `turnfold replay 2`, found nothing");
    check(b"{\"json\": 1}\r\n", "1:1: expected `turnfold replay 2`, found `{\"json\": 1}`");
    check(b"turnfold replay one\n", "1:1: expected `turnfold replay 2`, found `turnfold replay one`");
    check(
        b"turnfold replay 1\n+++\n",
        "1:17: expected `turnfold replay 2`, the one format that this build reads, found `1`",
    );
}

#[test]
fn the_header_stands_between_fences() {
    check(b"turnfold replay 2\n", "2:1: expected `+++` before the header, found the end of the file");
    check(b"turnfold replay 2\n---\n", "2:1: expected `+++` before the header, found `---`");
    check(
        b"turnfold replay 2\n+++\nversion = 1\n",
        "4:1: expected `+++` after the header, found the end of the file",
    );
}

#[test]
fn the_header_is_toml_with_known_keys() {
    let recorded = "ruleset = \"initiative\"\nversion = 1\ndice = \"recorded\"";
    check_header("version = ", "3:11: string values must be quoted, expected literal string");
    check_header(
        "version = 1\nauthor = \"x\"",
        "4:1: expected a key of the header, found `author`; the header's keys are `ruleset`, `version`, `module`, \
         `dice`, `seed`, `head`, `title`, `view` and the table `setup`",
    );
    check_header("version = 1", "2:1: expected `ruleset` in the header, found none");
    check_header("ruleset = 1", "3:11: expected a string as `ruleset`, found integer");
    check_header(recorded, "2:1: expected the table `[setup]` in the header, found none");
    check_header(&format!("{recorded}\nsetup = 1"), "6:9: expected a table as `setup`, found integer");
    check_header(&format!("{recorded}\ntitle = 1"), "6:9: expected a string as `title`, found integer");
}

#[test]
fn the_ruleset_is_one_of_this_build() {
    let known: Vec<_> =
        turnfold_games::standard().iter().map(|rules| format!("`{}`", rules.name())).collect();
    let known = known.join(", ");
    check_header(
        "ruleset = \"chess\"",
        &format!("3:11: expected a ruleset of this build ({known}), found `chess`"),
    );
    for version in ["0", "2", "-1", "99999999999"] {
        check_header(
            &format!("ruleset = \"initiative\"\nversion = {version}"),
            &format!("4:11: expected version 1 of `initiative`, the one of this build, found {version}"),
        );
    }
    check_header("ruleset = \"initiative\"", "2:1: expected `version` in the header, found none");
    check_header(
        "ruleset = \"initiative\"\nversion = \"1\"",
        "4:11: expected an integer as `version`, found string",
    );
}

#[test]
fn the_dice_are_recorded_seeded_or_fair() {
    let check_dice = |dice: &str, expected: &str| {
        check_header(&format!("ruleset = \"initiative\"\nversion = 1\n{dice}"), expected);
    };
    let policies = "`dice = \"recorded\"`, `dice = \"seeded\"` or `dice = \"fair\"`";
    check_dice("", &format!("2:1: expected {policies} in the header, found none"));
    check_dice("dice = \"loaded\"", &format!("5:8: expected {policies}, found `loaded`"));
    check_dice("dice = \"seeded\"", "5:8: expected `seed` with seeded dice, found none");
    check_dice("dice = \"recorded\"\nseed = \"00\"", "6:8: expected no `seed` with recorded dice, found one");
    check_dice(
        "dice = \"seeded\"\nseed = \"00\"",
        "6:8: expected a seed of 64 lowercase hex digits, found `00`",
    );
}

#[test]
fn lines_end_with_a_line_feed_alone() {
    check(
        b"turnfold replay 2\r\n",
        "1:18: expected lines that end in LF, found CR LF throughout; remove each CR, for example with `sed -i 's/\\r$//' FILE`; \
         if git adds them, put `*.tfl text eol=lf` into `.gitattributes` and check the file out again",
    );
    check_body("# \u{e4}\r\n", "4: expected a line end of LF alone, found U+000D");
    check_body("1 p1 stand", "11: expected a line feed, found nothing; was the file cut short?");
}

#[test]
fn control_characters_stand_nowhere() {
    check_body("# a\tb\n", "4: expected no control characters, found U+0009");
    check_body("1 p1 a\u{1b}b\n", "7: expected no control characters, found U+001B");
    check_header("# \u{85}", "3:3: expected no control characters, found U+0085");
    assert!(
        read("x.tfl", format!("{FIRST_LINE}\n+++\n\t{HEADER}+++\n").as_bytes(), &turnfold_games::standard())
            .is_ok()
    );
}

#[test]
fn lines_are_not_endless_but_outcomes_may_be_long() {
    let long = "x".repeat(Limits::COMMAND_BYTES_MAX);
    check_body(&format!("# {long}\n"), "1: expected at most 65536 bytes before an outcome, found 65538");
    let text = format!("{FIRST_LINE}\n+++\n{HEADER}+++\n1 p1 stand => {long}\n");
    assert!(read("x.tfl", text.as_bytes(), &turnfold_games::standard()).is_ok());
}

#[test]
fn a_header_is_not_endless() {
    let comment = format!("# {}\n", "x".repeat(Limits::HEADER_BYTES_MAX / 4));
    let text = format!("{FIRST_LINE}\n+++\n{}{HEADER}+++\n", comment.repeat(4));
    check(text.as_bytes(), "6:1: expected at most 4194304 bytes in a header");
}

#[test]
fn a_line_is_of_a_known_kind() {
    let kinds = "an entry `SEQ SEAT COMMAND`, an attempt `! SEAT COMMAND`, a comment `# \u{2026}` or the closing line `= \u{2026}`";
    check_body("p1 stand\n", &format!("1: expected {kinds}, found `p1 stand`"));
    check_body(" # comment\n", &format!("1: expected {kinds}, found ` # comment`"));
}

#[test]
fn entries_are_numbered_without_a_gap() {
    check_body("2 p1 stand\n", "1: expected entry number 1, found `2`");
    check_body("0 p1 stand\n", "1: expected entry number 1, found `0`");
    check_body("01 p1 stand\n", "1: expected entry number 1, found `01`");
    check_body("1. p1 stand\n", "1: expected entry number 1, found `1.`");
    let header = format!("{FIRST_LINE}\n+++\n{HEADER}+++\n");
    check(format!("{header}1 p1 stand\n1 p1 stand\n").as_bytes(), "10:1: expected entry number 2, found `1`");
}

#[test]
fn an_entry_has_a_seat_and_a_command() {
    check_body("1\n", "2: expected a seat, `p1` to `p16` or `host`, found nothing");
    check_body("1 p17 stand\n", "3: expected a seat, `p1` to `p16` or `host`, found `p17`");
    check_body("1 P1 stand\n", "3: expected a seat, `p1` to `p16` or `host`, found `P1`");
    check_body("1 p1\n", "5: expected a command, found nothing");
    check_body("1 p1 => stood\n", "6: expected a command, found `=> stood`");
    check_body("1 p1 #0123456789abcdef\n", "6: expected a command, found `#0123456789abcdef`");
}

#[test]
fn words_are_parted_by_single_spaces() {
    check_body("1  p1 stand\n", "3: expected a seat, `p1` to `p16` or `host`, found a space");
    check_body("1 p1  stand\n", "6: expected one space, found more");
    check_body("1 p1 move  0,1\n", "11: expected one space, found more");
    check_body("1 p1 stand =>  x\n", "15: expected one space, found more");
    check_body("1 p1 stand \n", "11: expected the end of the line, found trailing spaces");
    check_body("# comment \n", "10: expected the end of the line, found trailing spaces");
    check_body("  \n", "1: expected the end of the line, found trailing spaces");
    check_body("1 p1 say \"x\n", "10: expected a closing `\"`, found the end of the line");
}

#[test]
fn an_outcome_is_not_empty() {
    check_body("1 p1 stand =>\n", "14: expected an outcome after `=>`, found nothing");
    check_body(
        "1 p1 stand => #0123456789abcdef\n",
        "14: expected an outcome after `=>`, found ` #0123456789abcdef`",
    );
}

#[test]
fn a_hash_is_16_lowercase_hex_digits() {
    check_body("1 p1 stand #\n", "13: expected 16 lowercase hex digits, found 0");
    check_body("1 p1 stand => x #0123\n", "18: expected 16 lowercase hex digits, found 4");
    check_body("1 p1 stand #0123456789abcdef0\n", "13: expected 16 lowercase hex digits, found 17");
    check_body("1 p1 stand #0123456789ABCDEF\n", "23: expected 16 lowercase hex digits, found `ABCDEF`");
    check_body("1 p1 stand # done\n", "13: expected 16 lowercase hex digits, found ` done`");
}

#[test]
fn an_attempt_is_rejected_and_has_no_hash() {
    check_body("!p1 stand\n", "2: expected a space after `!`, found `p1`");
    check_body("! p1\n", "5: expected a command, found nothing");
    check_body("! p1 stand => stood\n", "15: expected `rejected CODE`, found `stood`");
    check_body("! p1 stand => rejected Bad\n", "15: expected `rejected CODE`, found `rejected Bad`");
    check_body(
        "! p1 stand => rejected bad #0123\n",
        "28: expected no hash, an attempt has none, found `#0123`",
    );
}

#[test]
fn the_closing_line_is_complete_and_the_last() {
    let digits = "0".repeat(64);
    let cut = "0, the number of entries above; are some of them lost?";
    let count = "0, the number of entries above (delete the line and bless the file if they are right)";
    let mark = "0".repeat(32);
    check_body(&format!("= 1 state {digits} log {digits}\n"), &format!("3: expected {cut}, found `1`"));
    check_body(&format!("= 00 state {digits} log {digits}\n"), &format!("3: expected {count}, found `00`"));
    check_body("==\n", "1: expected `=`, found `==`");
    check_body("= 0\n", "4: expected `state`, found nothing");
    check_body("= 0 hash x\n", "5: expected `state`, found `hash`");
    check_body("= 0 state 00 log 00\n", "11: expected 64 lowercase hex digits, found 2");
    check_body(&format!("= 0 state {digits}\n"), "75: expected `log`, found nothing");
    check_body(&format!("= 0 state {digits} log {digits}\n"), "144: expected `header`, found nothing");
    check_body(
        &format!("= 0 state {digits} log {digits} header {mark}0\n"),
        "152: expected 32 lowercase hex digits, found 33",
    );
    check_body(
        &format!("= 0 state {digits} log {digits} header {mark} x\n"),
        "184: expected the end of the line, found ` x`",
    );
    let body = format!("= 0 state {digits} log {digits} header {mark}\n1 p1 stand\n");
    let text = format!("{FIRST_LINE}\n+++\n{HEADER}+++\n{body}");
    check(text.as_bytes(), "10:1: expected the end of the file after the closing line, found `1 p1 stand`");
}

#[test]
fn cutting_a_file_anywhere_is_an_error_or_a_shorter_file() {
    let text = format!("{FIRST_LINE}\n+++\n{HEADER}+++\n1 p1 stand => x #0123456789abcdef\n2 p1 stand\n");
    for end in 0..text.len() {
        let is_whole = text.is_char_boundary(end) && text[..end].ends_with("+++\n") && end > 30;
        let is_read = read("x.tfl", &text.as_bytes()[..end], &turnfold_games::standard()).is_ok();
        assert_eq!(is_read, is_whole || text[..end].ends_with("cdef\n"), "{end}");
    }
}
