//! What an engine has found: matches, branches, heads.

use serde::{Deserialize, Serialize};
use turnfold_core::Digest;

use crate::chain;
use crate::entry::Seq;
use crate::error::StoreError;
use crate::genesis::Genesis;
use crate::names::{BranchName, MatchName};

/// What an engine calls a match, whatever its name. One that is made later never has it again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct MatchId(pub(crate) u128);

/// A match as its engine describes it.
#[derive(Clone, Debug)]
pub(crate) struct FoundMatch {
    pub(crate) name: MatchName,
    pub(crate) id: MatchId,
    pub(crate) branches: u64,
    pub(crate) genesis: Vec<u8>,
}

/// A branch as its engine describes it.
#[derive(Clone, Debug)]
pub(crate) struct FoundBranch {
    pub(crate) name: BranchName,
    /// What the engine calls it; no other branch of the match ever has it.
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
        let genesis = Genesis::decode(&self.genesis);
        genesis.map_err(|error| StoreError::damaged(format!("its genesis: {error}")).within(&self.name, None))
    }

    /// Returns the link before the first entry.
    pub(crate) fn link(&self) -> Digest {
        chain::genesis_link(&self.genesis)
    }
}

impl FoundBranch {
    /// Returns the number of the last entry that the branch has from its parent.
    pub(crate) fn forked_at(&self) -> u64 {
        self.parent.as_ref().map_or(0, |parent| parent.at)
    }

    /// Returns the name of the branch it begins on; `None` for `main`.
    pub(crate) fn parent_name(&self) -> Result<Option<BranchName>, StoreError> {
        let name = self.parent.as_ref().map(|parent| parent.name.parse::<BranchName>());
        name.transpose().map_err(|error| StoreError::damaged(error.to_string()))
    }
}
