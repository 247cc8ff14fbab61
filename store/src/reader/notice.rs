//! Queries for a process that keeps states in memory while other processes write (FL-18, FL-19).

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
    /// Returns `true` if other processes may write to the store while this one has it open.
    #[must_use]
    pub fn is_shared(&self) -> bool {
        self.engine.is_shared()
    }

    /// Returns the branch that has this name now, and its last entry.
    ///
    /// # Errors
    /// Returns [`StoreError::NoSuchMatch`], [`StoreError::NoSuchBranch`], or any error of reading.
    pub fn branch_head(&self, match_name: &MatchName, branch: &BranchName) -> Result<BranchHead, StoreError> {
        let branch = self.engine.found_branch(match_name, branch)?;
        Ok(BranchHead { id: BranchId::of(&branch), seq: branch.head.seq })
    }

    /// Returns the last seq of each branch, in the order of `branches`; `None` for a branch that was deleted or
    /// renamed.
    ///
    /// # Errors
    /// Returns any error of reading.
    pub fn heads(&self, branches: &[NamedBranch]) -> Result<Vec<Option<Seq>>, StoreError> {
        self.engine.heads(branches)
    }

    /// Reads entries like [`entries`](StoreReader::entries), but only if the name still belongs to this branch.
    ///
    /// # Errors
    /// Returns the errors of [`entries`](StoreReader::entries), or [`StoreError::NoSuchBranch`] if another branch has
    /// the name now.
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

    /// Looks up grants by token hash. Missing grants are skipped.
    ///
    /// # Errors
    /// Returns the errors of [`find_grant`](StoreReader::find_grant).
    pub fn find_grants(&self, hashes: &[Digest]) -> Result<Vec<(Digest, Grant)>, StoreError> {
        self.engine.find_grants(hashes)
    }
}
