//! Matches, branches and heads, as an engine returns them.

use serde::{Deserialize, Serialize};
use turnfold_core::Digest;

use crate::chain;
use crate::entry::Seq;
use crate::error::StoreError;
use crate::genesis::Genesis;
use crate::names::{BranchName, MatchName};

/// The engine's id of a match, independent of its name. No later match ever has the same id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct EngineMatchId(pub(crate) u128);

/// A match, as its engine describes it.
#[derive(Clone, Debug)]
pub(crate) struct FoundMatch {
    pub(crate) name: MatchName,
    pub(crate) id: EngineMatchId,
    pub(crate) branches: u64,
    pub(crate) genesis: Vec<u8>,
    /// The module recorded for the match (MD-9); `None` without one.
    pub(crate) module: Option<Digest>,
}

/// A branch, as its engine describes it.
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

    /// Returns the link before the first entry.
    pub(crate) fn link(&self) -> Digest {
        chain::genesis_link(&self.genesis)
    }
}

impl FoundBranch {
    /// Returns the seq of the last entry that the branch has from its parent; 0 for `main`.
    pub(crate) fn forked_at(&self) -> u64 {
        self.parent.as_ref().map_or(0, |parent| parent.at)
    }

    /// Returns the name of the parent branch; `None` for `main`.
    pub(crate) fn parent_name(&self) -> Result<Option<BranchName>, StoreError> {
        let name = self.parent.as_ref().map(|parent| parent.name.parse::<BranchName>());
        name.transpose().map_err(|error| StoreError::damaged(error.to_string()))
    }
}
