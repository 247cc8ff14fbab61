//! Finds the marks in a line of a replay file: the arrow before an outcome and the sign before a hash.

use turnfold_core::Outcome;

use super::error::TflError;
use super::file::ARROW;
use super::lines::SourceLine;

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

    /// Returns the text between arrow and hash, and where it begins.
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

    /// Reads the outcome between arrow and hash.
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
