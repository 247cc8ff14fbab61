//! Entries as a stepper lists them, and the results of its searches.

use turnfold_core::Outcome;

use crate::compare::divergence::Divergence;
use crate::viewer::viewed_entry::ViewedEntry;

/// An entry of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepperEntry {
    /// The entry's number in the viewer's numbering.
    pub seq: u64,
    /// Seat and command.
    pub command: String,
    /// The outcome.
    pub outcome: Outcome,
    /// What the source records instead, if that differs.
    pub recorded: Option<String>,
}

impl StepperEntry {
    pub(super) fn of(seen: &ViewedEntry<'_>) -> Self {
        Self {
            seq: seen.seq(),
            command: format!("{} {}", seen.seat(), seen.command()),
            outcome: seen.outcome(),
            recorded: None,
        }
    }

    /// Adds what the source records instead.
    pub(super) fn with_record(self, contradiction: Option<Divergence>) -> Self {
        Self { recorded: contradiction.and_then(|found| Some(found.recorded?.to_string())), ..self }
    }

    pub(super) fn contains(&self, lowercase: &str) -> bool {
        format!("{} => {}", self.command, self.outcome).to_lowercase().contains(lowercase)
    }
}

/// The direction of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchDirection {
    /// Towards the end.
    Forward,
    /// Towards the setup.
    Back,
}

/// An entry that a search found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hit {
    /// The entry's number in the viewer's numbering.
    pub seq: u64,
    /// Whether the search reached one end of the history and continued at the other.
    pub wrapped: bool,
}
