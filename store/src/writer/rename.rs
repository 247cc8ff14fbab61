//! Renaming matches and branches: everything that belongs to them stays.

use super::store::Store;
use crate::error::StoreError;
use crate::names::{BranchName, MatchName};

impl Store {
    /// Renames a match. It waits for a backup to be done.
    ///
    /// Who appends to it under the old name afterwards gets [`StoreError::NoSuchMatch`].
    ///
    /// # Errors
    /// [`StoreError::NoSuchMatch`], [`StoreError::AlreadyExists`] when a match has the new name, and those of writing.
    pub fn rename_match(&self, name: &MatchName, new: &MatchName) -> Result<(), StoreError> {
        self.engine.rename_match(name, new)
    }

    /// Renames a branch, also where others begin on it. It waits for a backup to be done with a match.
    ///
    /// # Errors
    /// [`StoreError::MainBranch`] for `main`, [`StoreError::NoSuchMatch`], [`StoreError::NoSuchBranch`],
    /// [`StoreError::BranchExists`] when a branch of the match has the new name, and those of writing.
    pub fn rename_branch(
        &self,
        match_name: &MatchName,
        name: &BranchName,
        new: &BranchName,
    ) -> Result<(), StoreError> {
        if name.is_main() {
            return Err(StoreError::MainBranch { match_name: match_name.clone(), action: "renamed" });
        }
        self.engine.rename_branch(match_name, name, new)
    }
}
