//! Lines of characters, each with the part of the picture that it shows.

use std::fmt;

use turnfold_core::picture::{TextLine, Tint};
use turnfold_history::text::printable;

use crate::drawing::place::{Highlights, Spot};

/// A line of characters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DrawnLine {
    /// Its pieces, from left to right.
    pub spans: Vec<DrawnSpan>,
}

/// A piece of a line in one color that belongs to one place of the picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DrawnSpan {
    /// The text, free of control characters.
    pub text: String,
    /// Its color, which is never the only sign of a difference.
    pub tint: Tint,
    /// What it shows: the inside of a hex, a line, a row or a bar.
    pub spot: Option<Spot>,
}

impl DrawnLine {
    pub(super) fn of(text: impl Into<String>, tint: Tint, spot: Option<Spot>) -> Self {
        Self { spans: vec![DrawnSpan { text: text.into(), tint, spot }] }
    }

    pub(super) fn escaped(line: &TextLine, spot: Option<Spot>) -> Self {
        let mut escaped = Self::default();
        for span in &line.spans {
            escaped.push(printable(&span.text), span.tint, spot);
        }
        escaped
    }

    /// Returns the line's width in columns.
    #[must_use]
    pub fn width(&self) -> usize {
        self.spans.iter().map(|span| width(&span.text)).sum()
    }

    pub(super) fn push(&mut self, text: impl Into<String>, tint: Tint, spot: Option<Spot>) {
        self.spans.push(DrawnSpan { text: text.into(), tint, spot });
    }

    pub(super) fn pad(&mut self, column: usize) {
        let missing = column.saturating_sub(self.width());
        if missing > 0 {
            self.push(" ".repeat(missing), Tint::Plain, None);
        }
    }

    pub(super) fn signed(mut self, highlights: &Highlights, spot: Spot) -> Self {
        if highlights.changed.contains(&spot) {
            self.push("  *", Tint::Bright, Some(spot));
        }
        self
    }

    pub(super) fn trimmed(mut self) -> Self {
        while let Some(last) = self.spans.last_mut() {
            last.text.truncate(last.text.trim_end_matches(' ').len());
            if !last.text.is_empty() {
                break;
            }
            self.spans.pop();
        }
        self
    }
}

/// Writes the characters without their colors.
impl fmt::Display for DrawnLine {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for span in &self.spans {
            out.write_str(&printable(&span.text))?;
        }
        Ok(())
    }
}

pub(super) fn width(text: &str) -> usize {
    text.chars().count()
}
