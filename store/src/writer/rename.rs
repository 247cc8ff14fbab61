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
    /// [`StoreError::NoSuchMatch`], [`StoreError::AlreadyExists`] when a match has the new name, and every error of writing.
    pub fn rename_match(&self, name: &MatchName, new: &MatchName) -> Result<(), StoreError> {
        self.rename_matches(&[(name.clone(), new.clone())])
    }

    /// Renames matches as [`rename_match`](Self::rename_match) does, each from the first name to the second, all of them
    /// or none. No new name may be that of a match, also not of one that loses it.
    ///
    /// # Errors
    /// As for [`rename_match`](Self::rename_match), for the first that cannot be renamed.
    pub fn rename_matches(&self, names: &[(MatchName, MatchName)]) -> Result<(), StoreError> {
        self.engine.rename_matches(names)
    }

    /// Renames a branch, also where others begin on it. It waits for a backup to be done with a match.
    ///
    /// # Errors
    /// [`StoreError::MainBranch`] for `main`, [`StoreError::NoSuchMatch`], [`StoreError::NoSuchBranch`],
    /// [`StoreError::BranchExists`] when a branch of the match has the new name, and every error of writing.
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
