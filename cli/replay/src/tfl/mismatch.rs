//! Where and in what a replay and the rules disagree.

use serde::Serialize;
use turnfold_core::Seat;

use super::EntryLine;
use crate::difference::Difference;

/// Where a replay and the rules disagree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    pub file: String,
    /// The line in the file, from 1.
    pub line: usize,
    pub place: Place,
    /// The last entry of a run of which only the state hashes differ, told with the first.
    pub until: Option<u64>,
    pub kind: MismatchKind,
    /// What the file says.
    pub expected: String,
    /// What the rules say.
    pub actual: String,
    /// The state hashes after the entry, where they differ too.
    pub hashes: Option<Hashes>,
    /// The ids of the rules behind the reasons that the file and the rules name.
    pub rules: Vec<&'static str>,
    /// For a roll, whether the dice or the rules differ.
    pub dice: Option<DiceFinding>,
    /// How the states differ; absent where the entry cannot be folded or there is none.
    pub state: Option<StateDifference>,
}

impl Mismatch {
    /// Takes up the difference after this one if only the hashes of both differ, one entry after the other; returns
    /// `true` if it did.
    pub(super) fn absorb(&mut self, next: &Self) -> bool {
        let (Place::Entry { seq, .. }, Place::Entry { seq: next_seq, .. }) = (&self.place, &next.place)
        else {
            return false;
        };
        let both_of_hash = self.kind == MismatchKind::StateHash && next.kind == MismatchKind::StateHash;
        let follows = self.until.unwrap_or(*seq).checked_add(1) == Some(*next_seq);
        if both_of_hash && follows {
            self.until = Some(*next_seq);
        }
        both_of_hash && follows
    }
}

/// What stands on the line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    Entry {
        seq: u64,
        seat: Seat,
        /// The command as the file writes it.
        command: String,
    },
    Attempt {
        /// The entry before it, or 0.
        after: u64,
        seat: Seat,
        command: String,
    },
    ClosingLine,
}

impl Place {
    pub(super) fn entry(entry: &EntryLine) -> Self {
        let EntryLine { seq, seat, command, .. } = entry.clone();
        Self::Entry { seq, seat, command }
    }
}

/// In what a replay and the rules disagree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MismatchKind {
    /// The file lacks an outcome, a hash or the closing line.
    Missing,
    /// The command is not written in its canonical form.
    NotCanonical,
    /// The outcome.
    Outcome,
    /// The state hash after an entry whose outcome agrees.
    StateHash,
    /// The rules reject an entry.
    Rejected,
    /// A roll that is not the one of the seed.
    WrongRoll,
    /// An attempt is accepted, or rejected for another reason.
    Attempt,
    /// The number of entries in the closing line.
    ClosingCount,
    /// The state hash in the closing line.
    ClosingState,
    /// The log digest in the closing line.
    ClosingLog,
    /// Folded a second time, the same entries come out otherwise: the rules are at fault, whatever the file says.
    NotDeterministic,
    /// Folded on from a state read back from its bytes, they come out otherwise.
    NotStorable,
}

/// Two state hashes, 16 digits each.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Hashes {
    pub expected: String,
    pub actual: String,
}

/// What is wrong with a roll.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DiceFinding {
    /// The values are not those of the seed; what the rules make of the file's values is what the file says.
    OtherValues,
    /// The values are those of the seed; the rules make something else of them.
    OtherRules,
    /// The values are not those of the seed, and the rules make something else of the file's values too.
    OtherValuesAndRules,
    /// The values come with the file, so the rules make something else of them.
    RecordedValues,
}

/// How states differ around a mismatch, as the host sees them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StateDifference {
    /// The hashes agree, so the states do.
    Equal,
    /// What the entry changes by the rules of this build. A hash does not tell the state it stands for, so this is all
    /// that can be said.
    OfEntry(Vec<Difference>),
    /// From the state that the file's hash stands for, where that is known, to the one of this build.
    FromExpected(Vec<Difference>),
}

impl StateDifference {
    /// Gives the fields that differ.
    pub fn fields(&self) -> &[Difference] {
        match self {
            Self::Equal => &[],
            Self::OfEntry(fields) | Self::FromExpected(fields) => fields,
        }
    }
}
