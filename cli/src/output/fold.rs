//! Lines folded between their words for a screen that is too narrow for them; a terminal would cut them anywhere.

use std::env;
use std::io;

use terminal_size::{Width, terminal_size, terminal_size_of};

/// How much further than a line the rest of it begins.
pub(super) const INDENT: usize = 4;

/// The narrowest screen that lines are folded for.
const WIDTH_MIN: usize = 20;

/// Returns how many columns the terminal has that shows standard output, itself or in a pager; a pipe has none.
pub(crate) fn stdout_width() -> Option<usize> {
    terminal_size_of(io::stdout()).and_then(|(Width(width), _)| usable(width.into()))
}

/// Returns how many columns the terminal has that shows standard error.
pub(crate) fn stderr_width() -> Option<usize> {
    terminal_size_of(io::stderr()).and_then(|(Width(width), _)| usable(width.into()))
}

/// Returns the width that clap writes help for: of any terminal, else of the variable `COLUMNS`.
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

/// Folds a line, which may have colors. The rest stands a little to the right of its beginning. A word that is wider than
/// the screen stays whole.
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

/// A line while it is folded.
#[derive(Default)]
struct Folding {
    width: usize,
    /// Where the lines after the first begin.
    indent: usize,
    text: String,
    /// How many columns of the last line are taken.
    column: usize,
    has_word: bool,
    /// The spaces before the word.
    spaces: usize,
    word: String,
    word_width: usize,
}

impl Folding {
    fn end_word(&mut self) {
        if self.word_width == 0 {
            // Colors alone take no room, and the spaces before them are those of the next word.
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
