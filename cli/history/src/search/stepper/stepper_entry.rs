//! What a stepper shows of entries and of what it finds.

use turnfold_core::{Outcome, Step};

use crate::compare::divergence::Divergence;

/// An entry as a list of entries shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepperEntry {
    /// Its number as the viewer counts entries.
    pub seq: u64,
    /// Seat and command.
    pub command: String,
    /// What became of it.
    pub outcome: Outcome,
    /// What the source records instead, where that differs.
    pub recorded: Option<String>,
}

impl StepperEntry {
    pub(super) fn of(seq: u64, step: &dyn Step) -> Self {
        Self {
            seq,
            command: format!("{} {}", step.seat(), step.shown()),
            outcome: step.outcome(),
            recorded: None,
        }
    }

    /// Returns the entry with how its record differs.
    pub(super) fn with_record(self, contradiction: Option<Divergence>) -> Self {
        Self { recorded: contradiction.and_then(|found| Some(found.recorded?.to_string())), ..self }
    }

    pub(super) fn contains(&self, lowercase: &str) -> bool {
        format!("{} => {}", self.command, self.outcome).to_lowercase().contains(lowercase)
    }
}

/// In which direction something is looked for.
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
    /// Its number as the viewer counts entries.
    pub seq: u64,
    /// Whether the search went on at the other end.
    pub wrapped: bool,
}
