//! Where and in what a replay and the rules disagree.

use serde::Serialize;

use crate::compare::difference::Difference;
use crate::compare::divergence::{Divergence, DivergenceKind, Subject};

/// Where a replay and the rules disagree, and what is known about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// How messages name the file.
    pub file: String,
    /// The line in the file, from 1.
    pub line: usize,
    /// In what they disagree.
    pub divergence: Divergence,
    /// The last entry of a run in which only the state hashes differ, shown with the first.
    pub until: Option<u64>,
    /// The ids of the rules behind the reasons that the file and the rules name.
    pub rules: Vec<String>,
    /// For a roll, whether the dice or the rules differ.
    pub dice: Option<DiceFinding>,
    /// How the states differ; absent where the entry cannot be folded or there is none.
    pub state: Option<StateDifference>,
}

impl Mismatch {
    pub(super) fn new(file: &str, line: usize, divergence: Divergence) -> Self {
        let rules = Vec::new();
        let dice = None;
        let state = None;
        Self { file: file.into(), line, divergence, until: None, rules, dice, state }
    }

    /// Returns in what the file and the rules disagree.
    #[must_use]
    pub fn kind(&self) -> DivergenceKind {
        self.divergence.kind
    }

    /// Merges the difference after this one into it if only the hashes of both differ, one entry after the other;
    /// returns `true` if it did.
    pub(super) fn absorb(&mut self, next: &Self) -> bool {
        let (Subject::Entry { seq, .. }, Subject::Entry { seq: next_seq, .. }) =
            (&self.divergence.subject, &next.divergence.subject)
        else {
            return false;
        };
        let both_of_hash =
            self.kind() == DivergenceKind::StateHash && next.kind() == DivergenceKind::StateHash;
        let follows = self.until.unwrap_or(*seq).checked_add(1) == Some(*next_seq);
        if both_of_hash && follows {
            self.until = Some(*next_seq);
        }
        both_of_hash && follows
    }
}

/// What is wrong with a roll.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DiceFinding {
    /// The values do not follow from the seed. With the file's values the rules compute the file's outcome.
    OtherValues,
    /// The values follow from the seed, but the rules compute another outcome.
    OtherRules,
    /// The values do not follow from the seed, and with the file's values the rules compute another outcome.
    OtherValuesAndRules,
    /// The values come with the file, so the rules make something else of them.
    RecordedValues,
}

/// How states differ around a mismatch, as the host sees them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StateDifference {
    /// The hashes agree, so the states do.
    Equal,
    /// What the entry changes by the rules of this build. A hash does not reveal the state it stands for, so this is
    /// all that is known.
    OfEntry(Vec<Difference>),
    /// From the state that the file's hash stands for, where that is known, to the one of this build.
    FromExpected(Vec<Difference>),
}

impl StateDifference {
    /// Returns the fields that differ.
    #[must_use]
    pub fn fields(&self) -> &[Difference] {
        match self {
            Self::Equal => &[],
            Self::OfEntry(fields) | Self::FromExpected(fields) => fields,
        }
    }
}
