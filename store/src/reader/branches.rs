//! Branches: which there are.

use turnfold_core::Digest;

use super::branch::Branch;
use super::store_reader::StoreReader;
use crate::entry::Seq;
use crate::error::StoreError;
use crate::genesis::Genesis;
use crate::names::{BranchName, MatchName};

/// What [`StoreReader::branches`] returns of a branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BranchInfo {
    /// Its name.
    pub name: BranchName,
    /// The branch it begins on, and after which entry; `None` for `main`.
    pub parent: Option<(BranchName, Seq)>,
    /// The number of its last entry.
    pub head: Seq,
    /// The link after its last entry.
    pub head_link: Digest,
}

impl StoreReader {
    /// Returns how a match begins.
    ///
    /// # Errors
    /// [`StoreError::NoSuchMatch`], and any error of reading.
    pub fn genesis(&self, name: &MatchName) -> Result<Genesis, StoreError> {
        self.engine.found_match(name)?.genesis()
    }

    /// Lists the branches of a match: `main`, then the others by name.
    ///
    /// # Errors
    /// [`StoreError::NoSuchMatch`], and [`StoreError::Corrupt`] when one cannot be read or some are missing.
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

    /// Returns the number of a branch's last entry.
    ///
    /// # Errors
    /// [`StoreError::NoSuchMatch`], [`StoreError::NoSuchBranch`], and any error of reading.
    pub fn head(&self, match_name: &MatchName, branch: &BranchName) -> Result<Seq, StoreError> {
        self.engine.found_branch(match_name, branch).map(|branch| branch.head.seq)
    }
}
