//! Golden logs: a match as a readable text file, with the outcome of every entry.
//!
//! ```text
//! turnfold replay 1
//! +++
//! ruleset = "initiative"
//! version = 1
//! dice = "recorded"
//! title = "a roll and a move"
//! [setup]
//! radius = 3
//! +++
//! # a comment
//! 1 host roll 6 5 2 1 => rolled p1=11 p2=3; … #9c41d2aa01b3c4d5
//! ! p1 stand => rejected not_your_turn
//! = 1 state <64 hex digits> log <64 hex digits>
//! ```
//!
//! An entry is `SEQ SEAT COMMAND`, then ` => ` and its outcome, then ` #` and the first 16 digits of the state
//! hash after it. A line that begins with `!` is an attempt: at this point the command is not accepted. It is no
//! entry. The closing line holds the number of entries, the state hash after the last, and the log digest: plain
//! blake3 over the entry lines, each with its outcome, hash and line feed, so that `grep '^[0-9]' FILE | b3sum`
//! finds it again (as long as no line of the header begins with a digit). Outcomes, hashes and the closing line may
//! be missing: [`bless()`] fills them in, [`check()`] demands them.

mod again;
mod bless;
mod change;
mod check;
mod explain;
mod fold;
mod header;
mod lines;
mod mismatch;
mod read;
mod report;
mod setup;
mod write;

#[cfg(test)]
mod example;

pub use bless::bless;
pub use change::{Change, RulesChange, change_lines, in_units};
pub use check::{AllDifferences, Checked, check, check_all};
pub use header::Header;
pub use mismatch::{Mismatch, MismatchKind};
pub use read::{read, read_any_version};
pub use report::MismatchReport;

use turnfold_core::{AnyRules, AnyState, Digest, FoldError, Seat};

/// The format that this build reads and writes.
const FIRST_LINE: &str = "turnfold replay 1";

/// Stands on a line of its own before and after the header.
const FENCE: &str = "+++";

/// Stands between a command and its outcome, before a space.
const ARROW: &str = " =>";

/// The line on which the header's text begins.
const HEADER_LINE: usize = 3;

/// A replay file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replay {
    /// How messages name the file.
    pub file: String,
    pub header: Header,
    /// The lines between header and closing line. Entries are numbered from 1 without a gap.
    pub lines: Vec<Line>,
    pub closing: Option<Closing>,
}

/// A line after the header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    Blank,
    /// The text after the `#`.
    Comment(String),
    Entry(EntryLine),
    Attempt(AttemptLine),
}

/// A recorded command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryLine {
    pub seq: u64,
    pub seat: Seat,
    pub command: String,
    /// What became of it, as [`Outcome`](turnfold_core::Outcome) writes it.
    pub outcome: Option<String>,
    /// The first 16 digits of the state hash after it.
    pub hash: Option<String>,
}

/// A command that is not accepted where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttemptLine {
    pub seat: Seat,
    pub command: String,
    /// The rejection's name.
    pub code: Option<String>,
}

/// The last line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Closing {
    /// The number of entries.
    pub count: u64,
    /// The hash of the state after the last entry.
    pub state: Digest,
    /// The blake3 hash of the canonical entry lines.
    pub log: Digest,
}

/// What is wrong with a replay file and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}:{column}: {message}")]
pub struct TflError {
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// What was expected and found.
    pub message: String,
}

impl TflError {
    fn new(file: &str, (line, column): (usize, usize), message: impl Into<String>) -> Self {
        Self { file: file.into(), line, column, message: message.into() }
    }
}

impl Replay {
    /// Gives the setup's bytes, as the log stores them.
    pub fn setup(&self) -> Result<Vec<u8>, TflError> {
        self.setup_under(self.header.rules)
    }

    fn setup_under(&self, rules: &dyn AnyRules) -> Result<Vec<u8>, TflError> {
        rules.read_setup(&self.header.setup).map_err(|error| self.header.locate(&self.file, &error))
    }

    /// Starts the match.
    pub fn start(&self) -> Result<Box<dyn AnyState>, TflError> {
        self.start_under(self.header.rules)
    }

    fn start_under(&self, rules: &dyn AnyRules) -> Result<Box<dyn AnyState>, TflError> {
        let setup = self.setup_under(rules)?;
        rules.start(&setup).map_err(|error| self.header.locate(&self.file, &error))
    }

    /// Gives the entries in order.
    pub fn entries(&self) -> impl Iterator<Item = &EntryLine> {
        self.numbered_entries().map(|(_, entry)| entry)
    }

    /// Gives the entries with the numbers of their lines in the file.
    pub fn numbered_entries(&self) -> impl Iterator<Item = (usize, &EntryLine)> {
        self.numbered_lines().filter_map(|(number, line)| match line {
            Line::Entry(entry) => Some((number, entry)),
            _ => None,
        })
    }

    /// Gives the lines after the header with their numbers in the file.
    fn numbered_lines(&self) -> impl Iterator<Item = (usize, &Line)> {
        (self.header.first_line_after()..).zip(&self.lines)
    }

    /// Gives the number of the line after the last of [`lines`](Self::lines).
    fn closing_line(&self) -> usize {
        self.header.first_line_after() + self.lines.len()
    }

    /// Gives the replay up to a line of the file, without a closing line.
    pub fn until_line(&self, line: usize) -> Self {
        let lines = self.numbered_lines().take_while(|(number, _)| *number <= line);
        Self { lines: lines.map(|(_, line)| line.clone()).collect(), closing: None, ..self.clone() }
    }

    /// Says where in the file an entry stands that cannot be folded.
    pub fn locate(&self, error: &FoldError) -> TflError {
        let entry = self.numbered_entries().find(|(_, entry)| entry.seq == error.seq());
        let (place, seat) = entry.map_or(((self.closing_line(), 1), ""), |(line, entry)| {
            ((line, format!("{} {} ", entry.seq, entry.seat).len() + 1), entry.seat.name())
        });
        let attempt = |message: String| match entry {
            Some((_, entry)) if matches!(error, FoldError::Rejected { .. }) => {
                format!("{message}; if that is meant, write `! {seat} {}`", entry.command)
            }
            _ => message,
        };
        TflError::new(&self.file, place, attempt(error.to_string()))
    }
}
