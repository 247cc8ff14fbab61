//! Setups that come with a game, and errors of setups that cannot be played.

use core::fmt::Display;

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;

use serde::{Deserialize, Serialize};

use crate::hex::{Board, Hex};
use crate::text::in_one_line;

/// A setup that comes with a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamedSetup<'a> {
    /// Its name: lower case letters, digits and `-`. `example` is reserved for the ruleset's example.
    pub name: &'a str,
    /// The setup as TOML. The comment that it begins with is its summary.
    pub toml: &'a str,
}

impl<'a> NamedSetup<'a> {
    /// Names a setup.
    #[must_use]
    pub const fn new(name: &'a str, toml: &'a str) -> Self {
        Self { name, toml }
    }

    /// Returns the comment that the setup begins with, in one line; empty if there is none.
    #[must_use]
    pub fn summary(&self) -> String {
        let mut summary = String::new();
        for line in self.toml.lines() {
            let Some(comment) = line.strip_prefix('#') else { break };
            if !summary.is_empty() {
                summary.push(' ');
            }
            summary.push_str(comment.trim());
        }
        summary
    }
}

/// A setup that cannot be played.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(tag = "kind", content = "message", rename_all = "snake_case", deny_unknown_fields)]
pub enum SetupError {
    /// The text is not TOML, or has an unknown, missing or mistyped key.
    #[error("setup:{line}:{column}: {message}")]
    Text {
        /// The line, from 1.
        line: u32,
        /// The column in characters, from 1.
        column: u32,
        /// What was expected and found.
        message: String,
    },
    /// The bytes of a stored setup cannot be read.
    #[error("stored setup: {0}")]
    Bytes(String),
    /// A value that the rules do not allow.
    #[error("setup: {field}: {message}")]
    Value {
        /// The path of the value, such as `units[2].at`.
        field: String,
        /// What is wrong with it.
        message: String,
    },
}

impl SetupError {
    /// Returns an error about the value at `field`.
    #[must_use]
    pub fn value(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Value { field: field.into(), message: message.into() }
    }

    /// Returns an error about the text at a byte offset.
    #[must_use]
    pub fn in_text(text: &str, start: usize, message: &str) -> Self {
        let before = text.get(..start).unwrap_or_default();
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let column = before.get(line_start..).unwrap_or_default().chars().count() + 1;
        let line = before.matches('\n').count() + 1;
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        Self::Text { line: count(line), column: count(column), message: in_one_line(message) }
    }

    /// Requires `hex` to be on `board`.
    ///
    /// # Errors
    /// A [`SetupError::Value`] naming `field`, the hex and the board's radius.
    pub fn on_board(field: &str, board: Board, hex: Hex) -> Result<(), Self> {
        if board.contains(hex) {
            return Ok(());
        }
        Err(Self::value(field, format!("hex {hex} is off the board of radius {}", board.radius())))
    }

    /// Adds `item` to `known`, and requires that it is not among them yet; `what` names it.
    ///
    /// # Errors
    /// A [`SetupError::Value`] naming `field` and the item.
    pub fn unique<T: Ord>(
        known: &mut BTreeSet<T>,
        item: T,
        field: &str,
        what: impl Display,
    ) -> Result<(), Self> {
        if known.insert(item) { Ok(()) } else { Err(Self::value(field, format!("{what} is listed twice"))) }
    }

    /// Requires `value` to be within `range`.
    ///
    /// # Errors
    /// A [`SetupError::Value`] naming `field` and the range.
    pub fn within<T: PartialOrd + Display>(
        field: &str,
        value: &T,
        range: core::ops::RangeInclusive<T>,
    ) -> Result<(), Self> {
        if range.contains(value) {
            return Ok(());
        }
        let message = format!("expected {} to {}, found {value}", range.start(), range.end());
        Err(Self::value(field, message))
    }
}
