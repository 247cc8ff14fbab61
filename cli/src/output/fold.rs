//! Folds lines between words for a narrow screen, because a terminal would break them anywhere.

use std::env;
use std::io;

use terminal_size::{Width, terminal_size, terminal_size_of};

pub(super) const INDENT: usize = 4;

const WIDTH_MIN: usize = 20;

/// Returns the width of the terminal on standard output, in columns; `None` for a pipe.
pub(crate) fn stdout_width() -> Option<usize> {
    terminal_size_of(io::stdout()).and_then(|(Width(width), _)| usable(width.into()))
}

pub(crate) fn stderr_width() -> Option<usize> {
    terminal_size_of(io::stderr()).and_then(|(Width(width), _)| usable(width.into()))
}

/// Returns the width in which clap writes help: that of any terminal, or else of the variable `COLUMNS`.
pub(crate) fn help_width() -> Option<usize> {
    if let Some((Width(width), _)) = terminal_size() {
        return usable(width.into());
    }
    usable(env::var("COLUMNS").ok()?.parse().ok()?)
}

fn usable(width: usize) -> Option<usize> {
    (width >= WIDTH_MIN).then_some(width)
}

pub(crate) fn folded_lines(text: &str, width: Option<usize>) -> String {
    let Some(width) = width else { return text.into() };
    text.split('\n').map(|line| folded(line, width)).collect::<Vec<_>>().join("\n")
}

/// Folds a line, which may contain colors. Continued lines are indented. A word that is wider than the screen stays
/// whole.
pub(crate) fn folded(line: &str, width: usize) -> String {
    let leading = line.chars().take_while(|character| *character == ' ').count();
    let indent = (leading + INDENT).min(width / 2);
    let mut folding = Folding { width, indent, ..Folding::default() };
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        match character {
            ' ' => {
                folding.end_word();
                folding.spaces += 1;
            }
            '\u{1b}' => {
                folding.word.push(character);
                // A color: `ESC [`, numbers, and a letter.
                for character in characters.by_ref() {
                    folding.word.push(character);
                    if character.is_ascii_alphabetic() {
                        break;
                    }
                }
            }
            _ => {
                folding.word.push(character);
                folding.word_width += 1;
            }
        }
    }
    folding.end_word();
    folding.text.push_str(&" ".repeat(folding.spaces));
    folding.text
}

#[derive(Default)]
struct Folding {
    width: usize,
    indent: usize,
    text: String,
    column: usize,
    has_word: bool,
    spaces: usize,
    word: String,
    word_width: usize,
}

impl Folding {
    fn end_word(&mut self) {
        if self.word_width == 0 {
            // Colors alone take no room; the spaces before them belong to the next word.
            self.text.push_str(&self.word);
            self.word.clear();
            return;
        }
        if self.has_word && self.column + self.spaces + self.word_width > self.width {
            self.text.push('\n');
            self.text.push_str(&" ".repeat(self.indent));
            self.column = self.indent;
        } else {
            self.text.push_str(&" ".repeat(self.spaces));
            self.column += self.spaces;
        }
        self.text.push_str(&self.word);
        self.column += self.word_width;
        self.has_word = true;
        self.spaces = 0;
        self.word_width = 0;
        self.word.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_folded_between_its_words() {
        for (line, expected) in [
            ("one two three", "one two three"),
            ("one two three four five six", "one two three four\n    five six"),
            ("  indented words stand further", "  indented words\n      stand further"),
            (
                "https://example.org/a/long/address is whole",
                "https://example.org/a/long/address\n    is whole",
            ),
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
}
