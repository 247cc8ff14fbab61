//! Branches of a match up to their heads, and branch ids, which outlive a rename (FL-8).

use std::ops::RangeInclusive;

use super::found::{EngineMatchId, FoundBranch, FoundMatch, Head};
use crate::entry::Seq;
use crate::error::StoreError;
use crate::names::{BranchName, MatchName};

/// A branch of a match and its head. Its history is its ancestors' entries up to the fork, then its own entries.
#[derive(Clone, Debug)]
pub(crate) struct Branch {
    pub(crate) found_match: FoundMatch,
    pub(crate) found: FoundBranch,
    pub(crate) head: Head,
}

/// Own entries of one branch of a match.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Own {
    pub(crate) match_id: EngineMatchId,
    pub(crate) branch: u64,
    /// The branch's first own entry.
    pub(crate) first: Seq,
    /// The last entry to read.
    pub(crate) last: Seq,
}

impl Branch {
    pub(crate) fn names(&self) -> (MatchName, BranchName) {
        (self.found_match.name.clone(), self.found.name.clone())
    }

    /// Adds this match and branch to an error about damage.
    pub(crate) fn within(&self, error: StoreError) -> StoreError {
        error.within(&self.found_match.name, Some(&self.found.name))
    }

    pub(crate) fn own(&self) -> RangeInclusive<Seq> {
        self.found.forked_at() + 1..=self.head.seq
    }

    /// Requires the branch to have entry `seq`; 0 is the setup and always exists.
    pub(crate) fn require(&self, seq: Seq) -> Result<(), StoreError> {
        if seq <= self.head.seq {
            return Ok(());
        }
        let (match_name, branch) = self.names();
        Err(StoreError::NoSuchSeq { match_name, branch, seq, head: self.head.seq })
    }
}

/// A branch independent of its name. No other branch ever has the same id, even if it gets the name after a deletion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BranchId {
    pub(crate) match_id: EngineMatchId,
    pub(crate) branch: u64,
}

impl BranchId {
    pub(crate) fn of(branch: &Branch) -> Self {
        Self { match_id: branch.found_match.id, branch: branch.found.id }
    }
}

/// A branch and its last entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BranchHead {
    /// The branch.
    pub id: BranchId,
    /// The seq of its last entry.
    pub seq: Seq,
}

/// A branch, and the names under which it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedBranch {
    /// The name of its match.
    pub match_name: MatchName,
    /// The name of the branch.
    pub branch: BranchName,
    /// The branch.
    pub id: BranchId,
}
