//! Mismatches: where a replay and the rules disagree.

use serde::Serialize;

use crate::compare::difference::Difference;
use crate::compare::divergence::{Divergence, DivergenceKind, Subject};

/// A place where a replay and the rules disagree, and what is known about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// The name of the file in messages.
    pub(crate) file: String,
    /// The line in the file, from 1.
    pub line: usize,
    /// The divergence.
    pub divergence: Divergence,
    /// The last entry of a run in which only the state hashes differ; the run is shown with its first entry.
    pub(crate) until: Option<u64>,
    /// The ids of the rules behind the reasons and rejections of both sides.
    pub(crate) rules: Vec<String>,
    /// For a roll, whether its values or the rules differ.
    pub(crate) dice: Option<DiceFinding>,
    /// How the states differ; `None` if there is no entry or it cannot be folded.
    pub(crate) state: Option<StateDifference>,
}

impl Mismatch {
    pub(super) fn new(file: &str, line: usize, divergence: Divergence) -> Self {
        let rules = Vec::new();
        let dice = None;
        let state = None;
        Self { file: file.into(), line, divergence, until: None, rules, dice, state }
    }

    /// Returns the kind of the divergence.
    #[must_use]
    pub fn kind(&self) -> DivergenceKind {
        self.divergence.kind
    }

    /// Merges the next mismatch into this one if both are only of state hashes and their entries follow each other.
    /// Returns `true` if it did.
    pub(super) fn absorb(&mut self, next: &Self) -> bool {
        let (Subject::Entry { seq, .. }, Subject::Entry { seq: next_seq, .. }) =
            (&self.divergence.subject, &next.divergence.subject)
        else {
            return false;
        };
        let follows = self.until.unwrap_or(*seq).checked_add(1) == Some(*next_seq);
        if !follows || self.kind() != DivergenceKind::StateHash || next.kind() != DivergenceKind::StateHash {
            return false;
        }
        self.until = Some(*next_seq);
        true
    }
}

/// What is known about a roll that differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum DiceFinding {
    /// The values are not the seed's. With the file's values the rules compute the file's outcome.
    OtherValues,
    /// The values are the seed's, but the rules compute another outcome.
    OtherRules,
    /// The values are not the seed's, and with the file's values the rules compute another outcome.
    OtherValuesAndRules,
    /// The values are recorded in the file, so the rules differ.
    RecordedValues,
}

/// How the states of a mismatch differ, as the host sees them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum StateDifference {
    /// The hashes are equal, so the states are.
    Equal,
    /// The fields that the entry changes under the rules of this build. Nothing else is known, because a hash does not
    /// reveal its state.
    OfEntry(Vec<Difference>),
    /// The fields that differ between the state of the file's hash, which is known here, and the state of this build.
    FromExpected(Vec<Difference>),
}

impl StateDifference {
    /// Returns the fields that differ.
    #[must_use]
    pub(crate) fn fields(&self) -> &[Difference] {
        match self {
            Self::Equal => &[],
            Self::OfEntry(fields) | Self::FromExpected(fields) => fields,
        }
    }
}
