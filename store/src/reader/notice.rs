//! Questions of a process that holds states in memory while other processes write (FL-18, FL-19).

use std::ops::RangeInclusive;

use turnfold_core::Digest;

use super::branch::{BranchHead, BranchId, NamedBranch};
use super::entries::Entries;
use super::store_reader::StoreReader;
use crate::entry::Seq;
use crate::error::StoreError;
use crate::grant::Grant;
use crate::names::{BranchName, MatchName};

impl StoreReader {
    /// Returns `true` if other processes may write to the store while this one has it.
    #[must_use]
    pub fn is_shared(&self) -> bool {
        self.engine.is_shared()
    }

    /// Returns which branch has a name now, and its last entry.
    ///
    /// # Errors
    /// [`StoreError::NoSuchMatch`], [`StoreError::NoSuchBranch`], and every error of reading.
    pub fn branch_head(&self, match_name: &MatchName, branch: &BranchName) -> Result<BranchHead, StoreError> {
        let branch = self.engine.found_branch(match_name, branch)?;
        Ok(BranchHead { id: BranchId::of(&branch), seq: branch.head.seq })
    }

    /// Returns the last entries of branches, in their order; `None` for one that is deleted or has another name.
    ///
    /// # Errors
    /// Every error of reading.
    pub fn heads(&self, branches: &[NamedBranch]) -> Result<Vec<Option<Seq>>, StoreError> {
        self.engine.heads(branches)
    }

    /// Reads entries as [`entries`](StoreReader::entries) does, but only of this very branch.
    ///
    /// # Errors
    /// As for [`entries`](StoreReader::entries); [`StoreError::NoSuchBranch`] when another branch has its name.
    pub fn entries_of(
        &self,
        named: &NamedBranch,
        range: RangeInclusive<Seq>,
    ) -> Result<Entries<'_>, StoreError> {
        let NamedBranch { match_name, branch, id } = named;
        let _branches = self.engine.hold_branches();
        let branch = self.engine.found_branch(match_name, branch)?;
        if BranchId::of(&branch) != *id {
            let (match_name, branch) = branch.names();
            return Err(StoreError::NoSuchBranch { match_name, branch });
        }
        branch.require(*range.end())?;
        branch.entries(self.engine.as_ref(), range)
    }

    /// Finds the grants of tokens by the tokens' hashes, those that there are.
    ///
    /// # Errors
    /// As for [`find_grant`](StoreReader::find_grant).
    pub fn find_grants(&self, hashes: &[Digest]) -> Result<Vec<(Digest, Grant)>, StoreError> {
        self.engine.find_grants(hashes)
    }
}
