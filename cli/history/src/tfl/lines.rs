//! The lines of a file that is being read, the marks in them, and errors with line and column.

use turnfold_core::Outcome;

use super::file::{ARROW, TflError};
use super::header::HEADER_LINE;
use crate::input::Limits;
use crate::text::printable;

pub(super) struct SourceLines<'a> {
    pub(super) file: &'a str,
    pub(super) rest: &'a str,
    /// The number of the last line returned, from 1.
    pub(super) number: usize,
}

impl<'a> SourceLines<'a> {
    pub(super) fn next(&mut self) -> Result<Option<SourceLine<'a>>, TflError> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        self.number += 1;
        let (text, rest) = match self.rest.split_once('\n') {
            Some((text, rest)) => (text, Some(rest)),
            None => (self.rest, None),
        };
        let line = SourceLine { file: self.file, number: self.number, text };
        // Nearly all lines are plain, and that check is faster.
        let is_plain = text.bytes().all(|byte| matches!(byte, b' '..=b'~'));
        if !is_plain {
            line.check_characters(self.number >= HEADER_LINE)?;
        }
        let Some(rest) = rest else {
            let message = "expected a line feed, found nothing; was the file cut short?";
            return Err(line.error(text.len(), message.into()));
        };
        self.rest = rest;
        Ok(Some(line))
    }
}

#[derive(Clone, Copy)]
pub(super) struct SourceLine<'a> {
    pub(super) file: &'a str,
    number: usize,
    pub(super) text: &'a str,
}

impl<'a> SourceLine<'a> {
    fn check_characters(&self, with_tabs: bool) -> Result<(), TflError> {
        for (at, character) in self.text.char_indices() {
            if !character.is_control() || (character == '\t' && with_tabs) {
                continue;
            }
            let what = if character == '\r' { "a line end of LF alone" } else { "no control characters" };
            return Err(self.error(at, format!("expected {what}, found U+{:04X}", u32::from(character))));
        }
        Ok(())
    }

    pub(super) fn check_body(&self) -> Result<(), TflError> {
        if let Some(at) = self.text.find('\t') {
            return Err(self.error(at, "expected no control characters, found U+0009".into()));
        }
        if self.text.len() > Limits::COMMAND_BYTES_MAX {
            // Outcomes are not counted, because their length depends on the rules.
            let counted = self.text.find(ARROW).unwrap_or(self.text.len());
            if counted > Limits::COMMAND_BYTES_MAX {
                let message = format!(
                    "expected at most {} bytes before an outcome, found {counted}",
                    Limits::COMMAND_BYTES_MAX
                );
                return Err(self.error(0, message));
            }
        }
        let trimmed = self.text.trim_end_matches(' ').len();
        if trimmed < self.text.len() {
            return Err(self.error(trimmed, "expected the end of the line, found trailing spaces".into()));
        }
        Ok(())
    }

    /// Returns the word at `at` and the start of the next one, which is past the end for the last word.
    pub(super) fn word(&self, at: usize) -> (&'a str, usize) {
        let rest = self.text.get(at..).unwrap_or_default();
        let word = rest.split(' ').next().unwrap_or_default();
        (word, at + word.len() + 1)
    }

    pub(super) fn slice(&self, start: usize, end: usize) -> &'a str {
        self.text.get(start..end).unwrap_or_default()
    }

    pub(super) fn expected(&self, at: usize, what: &str, found: &str) -> TflError {
        let is_space = found.is_empty() && self.text.get(at..).is_some_and(|rest| rest.starts_with(' '));
        let found = if is_space { "a space".into() } else { quoted(found) };
        self.error(at, format!("expected {what}, found {found}"))
    }

    pub(super) fn error(&self, at: usize, message: String) -> TflError {
        let before = self.text.get(..at).unwrap_or(self.text);
        TflError::new(self.file, (self.number, before.chars().count() + 1), message)
    }
}

pub(super) fn quoted(found: &str) -> String {
    const SHOWN_MAX: usize = 40;
    if found.is_empty() {
        return "nothing".into();
    }
    let shown: String = found.chars().take(SHOWN_MAX).collect();
    let dots = if shown.len() < found.len() { "…" } else { "" };
    format!("`{}{dots}`", printable(&shown))
}

/// Where the outcome and the hash of a line begin, at the space before their mark. Marks within double quotes do not
/// count.
#[derive(Default)]
pub(super) struct Marks {
    pub(super) arrow: Option<usize>,
    pub(super) hash: Option<usize>,
}

impl Marks {
    /// Finds the marks after `from`. Requires single spaces and closed quotes on the way.
    pub(super) fn find(line: &SourceLine<'_>, from: usize) -> Result<Self, TflError> {
        // If the command is missing, the space before it is also the one before a mark.
        let from = from.saturating_sub(1);
        let rest = line.slice(from, line.text.len());
        let mut marks = Self::default();
        let mut quote = None;
        let mut escaped = false;
        for (place, byte) in rest.bytes().enumerate() {
            match (byte, quote) {
                (b'"', None) => quote = Some(place),
                (b'"', Some(_)) if !escaped => quote = None,
                (b' ', None) => {
                    let here = rest.get(place..).unwrap_or_default();
                    if here.starts_with("  ") {
                        return Err(line.error(from + place + 1, "expected one space, found more".into()));
                    } else if marks.arrow.is_none() && marks.hash.is_none() && is_arrow(here) {
                        marks.arrow = Some(from + place);
                    } else if marks.hash.is_none() && here.starts_with(" #") {
                        marks.hash = Some(from + place);
                    }
                }
                _ => {}
            }
            escaped = byte == b'\\' && !escaped;
        }
        if let Some(place) = quote {
            let message = "expected a closing `\"`, found the end of the line";
            return Err(line.error(from + place, message.into()));
        }
        Ok(marks)
    }

    pub(super) fn outcome_text<'a>(
        &self,
        line: &SourceLine<'a>,
        arrow: usize,
    ) -> Result<(usize, &'a str), TflError> {
        let start = arrow + ARROW.len();
        let end = self.hash.unwrap_or(line.text.len());
        match line.slice(start, end).strip_prefix(' ') {
            Some(outcome) if !outcome.is_empty() => Ok((start + 1, outcome)),
            _ => Err(line.expected(start, "an outcome after `=>`", line.slice(start, line.text.len()))),
        }
    }

    pub(super) fn outcome(&self, line: &SourceLine<'_>, arrow: usize) -> Result<Outcome, TflError> {
        let (at, text) = self.outcome_text(line, arrow)?;
        let what = "effects, `applied`, `ignored CODE` or `rejected CODE`";
        text.parse().map_err(|_| line.expected(at, what, text))
    }
}

/// Returns `true` if text begins with ` => `, or is ` =>` at the end of a line.
fn is_arrow(text: &str) -> bool {
    text.strip_prefix(ARROW).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
}
