//! Deleting matches and branches.

use super::store::Store;
use crate::error::StoreError;
use crate::names::{BranchName, MatchName};

impl Store {
    /// Deletes a branch with the entries that only it has. It waits for a backup to be done with a match.
    ///
    /// # Errors
    /// [`StoreError::MainBranch`] and [`StoreError::BranchInUse`] when it may not be deleted,
    /// [`StoreError::NoSuchMatch`], [`StoreError::NoSuchBranch`], and every error of writing.
    pub fn delete_branch(&self, match_name: &MatchName, name: &BranchName) -> Result<(), StoreError> {
        if name.is_main() {
            return Err(StoreError::MainBranch { match_name: match_name.clone(), action: "deleted" });
        }
        self.engine.delete_branch(match_name, name)
    }

    /// Deletes a match with all its branches, entries and grants, all or nothing. It waits for a backup to be done.
    ///
    /// Who appends to it afterwards gets [`StoreError::NoSuchMatch`].
    ///
    /// # Errors
    /// [`StoreError::NoSuchMatch`], and every error of reading and writing.
    pub fn delete_match(&self, name: &MatchName) -> Result<(), StoreError> {
        self.delete_matches(std::slice::from_ref(name))
    }

    /// Deletes matches as [`delete_match`](Self::delete_match) does, all of them or none.
    ///
    /// # Errors
    /// As for [`delete_match`](Self::delete_match), for the first that cannot be deleted.
    pub fn delete_matches(&self, names: &[MatchName]) -> Result<(), StoreError> {
        self.engine.delete_matches(names)
    }
}
