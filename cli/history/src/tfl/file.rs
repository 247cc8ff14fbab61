//! A replay file in memory.

use turnfold_core::{AnyState, Digest, FoldError};

use super::canonical::HeaderMark;
use super::header::{Header, SeenBy};
use crate::history::entry::{Attempt, LogEntry};

pub(super) const FIRST_LINE: &str = "turnfold replay 2";

pub(super) const FENCE: &str = "+++";

/// The mark between a command and its outcome, before a space.
pub(super) const ARROW: &str = " =>";

/// A replay file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replay {
    /// The name of the file in messages.
    pub file: String,
    /// The header.
    pub header: Header,
    /// The lines between header and closing line. Entries are numbered from 1 without a gap.
    pub lines: Vec<ReplayLine>,
    /// The closing line, the last of the file.
    pub closing: Option<Closing>,
}

/// A line after the header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReplayLine {
    /// An empty line.
    Blank,
    /// The text after the `#`.
    Comment(String),
    /// A recorded command.
    Entry(LogEntry),
    /// A command that the rules must reject at that point.
    Attempt(Attempt),
}

impl ReplayLine {
    pub(crate) fn entry(&self) -> Option<&LogEntry> {
        if let Self::Entry(entry) = self { Some(entry) } else { None }
    }
}

/// The closing line, the last of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Closing {
    /// The number of entries.
    pub count: u64,
    /// The hash of the state after the last entry.
    pub state: Digest,
    /// The blake3 hash of the canonical header and entry lines.
    pub(crate) log: Digest,
    pub(crate) header: HeaderMark,
}

/// An error in a replay file and its place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}:{column}: {message}")]
pub struct TflError {
    /// The name of the file in messages.
    pub file: String,
    pub(crate) line: usize,
    pub(crate) column: usize,
    /// What was expected and found.
    pub message: String,
}

impl TflError {
    pub(crate) fn new(file: &str, (line, column): (usize, usize), message: impl Into<String>) -> Self {
        Self { file: file.into(), line, column, message: message.into() }
    }
}

impl Replay {
    /// Requires a file that conceals nothing.
    ///
    /// # Errors
    /// [`TflError`] at the header of a file for one seat.
    pub fn whole(self) -> Result<Self, TflError> {
        let Some(SeenBy { perspective, .. }) = self.header.view else { return Ok(self) };
        let message = format!(
            "expected a whole replay file, found what `{perspective}` may know of one, which can only be shown and stepped"
        );
        Err(TflError::new(&self.file, (self.header.line_of(Some("view")), 1), message))
    }

    pub(crate) fn setup(&self) -> Result<Vec<u8>, TflError> {
        let setup = self.header.rules.read_setup_of(&self.header.text);
        setup.map_err(|error| self.header.locate(&self.file, &error))
    }

    pub(crate) fn start(&self) -> Result<Box<dyn AnyState>, TflError> {
        let state = self.header.rules.start(&self.setup()?);
        state.map_err(|error| self.header.locate(&self.file, &error))
    }

    /// Returns the entries in order.
    pub fn entries(&self) -> impl Iterator<Item = &LogEntry> {
        self.numbered_entries().map(|(_, entry)| entry)
    }

    pub(crate) fn numbered_entries(&self) -> impl Iterator<Item = (usize, &LogEntry)> {
        self.numbered_lines().filter_map(|(number, line)| Some((number, line.entry()?)))
    }

    pub(crate) fn numbered_lines(&self) -> impl Iterator<Item = (usize, &ReplayLine)> {
        (self.header.first_line_after()..).zip(&self.lines)
    }

    /// Returns `true` if the end of the file seems to be lost: every entry is blessed, but there is no closing line. A
    /// file that is still being written lacks an outcome or a hash at its end as well.
    #[must_use]
    pub fn is_cut_short(&self) -> bool {
        let mut is_any = false;
        for entry in self.entries() {
            is_any = true;
            if entry.outcome.is_none() || entry.hash.is_none() {
                return false;
            }
        }
        is_any && self.closing.is_none() && self.header.view.is_none()
    }

    pub(crate) fn closing_line(&self) -> usize {
        self.header.first_line_after() + self.lines.len()
    }

    pub(crate) fn until_line(&self, line: usize) -> Self {
        let count = (line + 1).saturating_sub(self.header.first_line_after());
        let lines = self.lines.get(..count).unwrap_or(&self.lines).to_vec();
        Self { lines, closing: None, ..self.clone() }
    }

    pub(crate) fn locate(&self, error: &FoldError) -> TflError {
        for (line, entry) in self.numbered_entries() {
            if entry.seq != error.seq() {
                continue;
            }
            let LogEntry { seq, seat, command, .. } = entry;
            let column = format!("{seq} {seat} ").len() + 1;
            let mut message = error.to_string();
            if matches!(error, FoldError::Rejected { .. }) {
                message = format!("{message}; if that is meant, write `! {} {command}`", seat.name());
            }
            return TflError::new(&self.file, (line, column), message);
        }
        TflError::new(&self.file, (self.closing_line(), 1), error.to_string())
    }
}
