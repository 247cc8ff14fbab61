//! Lists branches and their heads.

use turnfold_core::Digest;

use super::branch::Branch;
use super::store_reader::StoreReader;
use crate::entry::Seq;
use crate::error::StoreError;
use crate::genesis::Genesis;
use crate::names::{BranchName, MatchName};

/// A branch, as [`StoreReader::branches`] returns it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BranchInfo {
    /// Its name.
    pub name: BranchName,
    /// The parent branch and the last entry from it; `None` for `main`.
    pub parent: Option<(BranchName, Seq)>,
    /// The seq of its last entry.
    pub head: Seq,
    /// The link after its last entry.
    pub head_link: Digest,
}

impl StoreReader {
    /// Returns the setup of a match.
    ///
    /// # Errors
    /// Returns [`StoreError::NoSuchMatch`], or any error of reading.
    pub fn genesis(&self, name: &MatchName) -> Result<Genesis, StoreError> {
        self.engine.found_match(name)?.genesis()
    }

    /// Lists the branches of a match: `main`, then the others by name.
    ///
    /// # Errors
    /// Returns [`StoreError::NoSuchMatch`], or [`StoreError::Corrupt`] if a branch cannot be read or is missing.
    pub fn branches(&self, match_name: &MatchName) -> Result<Vec<BranchInfo>, StoreError> {
        let _branches = self.engine.hold_branches();
        let (_, branches) = self.engine.branches(match_name)?;
        let mut infos = Vec::new();
        for Branch { found, head, .. } in branches {
            let parent = found.parent_name();
            let parent = parent.map_err(|error| error.within(match_name, Some(&found.name)))?;
            let parent = parent.map(|name| (name, found.forked_at()));
            infos.push(BranchInfo { name: found.name, parent, head: head.seq, head_link: head.link });
        }
        infos.sort_by(|left, right| left.name.main_first().cmp(&right.name.main_first()));
        Ok(infos)
    }

    /// Returns the seq of a branch's last entry.
    ///
    /// # Errors
    /// Returns [`StoreError::NoSuchMatch`], [`StoreError::NoSuchBranch`], or any error of reading.
    pub fn head(&self, match_name: &MatchName, branch: &BranchName) -> Result<Seq, StoreError> {
        self.engine.found_branch(match_name, branch).map(|branch| branch.head.seq)
    }
}
