//! Branches as an engine finds them, their heads and ids, which outlive a rename (FL-8), and the segments of a history.

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};
use turnfold_core::Digest;

use crate::chain;
use crate::engine::EngineReader;
use crate::entry::Seq;
use crate::error::StoreError;
use crate::genesis::Genesis;
use crate::names::{BranchName, MatchName};

/// A branch of a match and its head. Its history is its ancestors' entries up to the fork, then its own entries.
#[derive(Clone, Debug)]
pub(crate) struct Branch {
    pub(crate) found_match: FoundMatch,
    pub(crate) found: FoundBranch,
    pub(crate) head: Head,
}

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

    pub(crate) fn within(&self, error: StoreError) -> StoreError {
        error.within(&self.found_match.name, Some(&self.found.name))
    }

    pub(crate) fn own(&self) -> RangeInclusive<Seq> {
        self.found.forked_at() + 1..=self.head.seq
    }

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

/// The engine's id of a match, independent of its name. No later match ever has the same id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct EngineMatchId(pub(crate) u128);

#[derive(Clone, Debug)]
pub(crate) struct FoundMatch {
    pub(crate) name: MatchName,
    pub(crate) id: EngineMatchId,
    pub(crate) branches: u64,
    pub(crate) genesis: Vec<u8>,
    /// The module recorded for the match (MD-9); `None` without one.
    pub(crate) module: Option<Digest>,
}

#[derive(Clone, Debug)]
pub(crate) struct FoundBranch {
    pub(crate) name: BranchName,
    /// The engine's id of the branch. No other branch of the match ever has the same id.
    pub(crate) id: u64,
    pub(crate) parent: Option<Parent>,
    /// The link before the branch's first own entry.
    pub(crate) before: Digest,
}

/// Where a branch begins. The field order is the format of stores on disk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Parent {
    pub(crate) name: String,
    pub(crate) id: u64,
    pub(crate) at: u64,
    pub(crate) link: Digest,
}

/// The last entry of a branch and the link after it. The field order is the format of stores on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Head {
    pub(crate) seq: Seq,
    pub(crate) link: Digest,
}

impl FoundMatch {
    pub(crate) fn genesis(&self) -> Result<Genesis, StoreError> {
        let genesis = Genesis::decode(&self.genesis).map_err(|error| format!("its genesis: {error}"));
        let genesis = genesis.map_err(|reason| StoreError::damaged(reason).within(&self.name, None))?;
        Ok(Genesis { played_by: self.module, ..genesis })
    }

    /// Returns `true` if the module must be recorded before entries that it judged are appended.
    ///
    /// # Errors
    /// Returns [`StoreError::OtherModule`] if the match is played by another module.
    pub(crate) fn is_new_module(&self, module: Digest) -> Result<bool, StoreError> {
        match self.genesis()?.only_module() {
            None => Ok(true),
            Some(recorded) if *recorded == module => Ok(false),
            // MD-9: from the first append on, the match is played by that module only.
            Some(recorded) => Err(StoreError::OtherModule {
                match_name: self.name.clone(),
                recorded: *recorded,
                found: module,
            }),
        }
    }

    pub(crate) fn link(&self) -> Digest {
        chain::genesis_link(&self.genesis)
    }
}

impl FoundBranch {
    /// Returns the seq of the last entry that the branch has from its parent; 0 for `main`.
    pub(crate) fn forked_at(&self) -> u64 {
        self.parent.as_ref().map_or(0, |parent| parent.at)
    }

    pub(crate) fn parent_name(&self) -> Result<Option<BranchName>, StoreError> {
        let name = self.parent.as_ref().map(|parent| parent.name.parse::<BranchName>());
        name.transpose().map_err(|error| StoreError::damaged(error.to_string()))
    }
}

#[derive(Debug)]
pub(crate) struct BranchSegment {
    pub(crate) branch: BranchName,
    pub(crate) own: Own,
    /// The link before the branch's first own entry.
    pub(crate) before: Digest,
    /// The link after the last entry, if the store records it.
    pub(crate) after: Option<Digest>,
}

impl Branch {
    /// Finds the parts of the history from `from` to `to`, oldest first.
    pub(crate) fn segments(
        &self,
        engine: &dyn EngineReader,
        from: Seq,
        to: Seq,
    ) -> Result<Vec<BranchSegment>, StoreError> {
        let mut segments = Vec::new();
        let mut last = to;
        let mut after = (to == self.head.seq).then_some(self.head.link);
        // The ancestors are looked up only if entries of them are wanted, because branches may be nested deeply.
        let is_own = to < from || from > self.found.forked_at();
        let branches = if is_own {
            vec![self.found.clone()]
        } else {
            engine.ancestry(&self.found_match, &self.found)?
        };
        for branch in branches {
            let forked_at = branch.forked_at();
            if last > forked_at && last >= from {
                let own =
                    Own { match_id: self.found_match.id, branch: branch.id, first: forked_at + 1, last };
                segments.push(BranchSegment { branch: branch.name, own, before: branch.before, after });
            }
            if let Some(parent) = branch.parent.filter(|parent| parent.at <= last) {
                (last, after) = (parent.at, Some(parent.link));
            }
        }
        segments.reverse();
        Ok(segments)
    }
}
