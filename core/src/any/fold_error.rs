//! Why an entry cannot be folded.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::decode::DecodeError;
use crate::outcome::Rejected;
use crate::seat::Seat;

/// An entry that cannot be folded; all earlier ones have been.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(tag = "kind", content = "message", rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum FoldError {
    /// The stored bytes are not a command.
    #[error("entry {seq}: {cause}")]
    Undecodable {
        /// The entry's number.
        seq: u64,
        /// What is wrong with the bytes.
        cause: DecodeError,
    },
    /// The text is not a command.
    #[error("entry {seq}: malformed command: {message}")]
    Malformed {
        /// The entry's number.
        seq: u64,
        /// What was expected.
        message: String,
    },
    /// The rules do not accept the command.
    #[error("entry {seq}: rejected {}: {rejected}", rejected.code)]
    Rejected {
        /// The entry's number.
        seq: u64,
        /// The rejection, boxed to keep results small.
        rejected: Box<Rejected>,
    },
    /// Fair dice cannot roll for one seat alone.
    #[error("entry {seq}: fair dice roll for all, and this roll is one that {owner} alone learns")]
    OwnedFairRoll {
        /// The entry's number.
        seq: u64,
        /// The only seat that would learn the values.
        owner: Seat,
    },
    /// The roll differs from the one that the match's seed gives.
    #[error("entry {seq}: the seeded dice give {expected:?}, found {found:?}")]
    WrongRoll {
        /// The entry's number.
        seq: u64,
        /// The values that follow from the seed.
        expected: Vec<i32>,
        /// The values recorded.
        found: Vec<i32>,
    },
}

impl FoldError {
    /// Returns the number of the entry.
    #[must_use]
    pub const fn seq(&self) -> u64 {
        match self {
            Self::Undecodable { seq, .. }
            | Self::Malformed { seq, .. }
            | Self::Rejected { seq, .. }
            | Self::OwnedFairRoll { seq, .. }
            | Self::WrongRoll { seq, .. } => *seq,
        }
    }
}
