//! Creating, renaming and deleting matches and branches.

use super::store::Store;
use crate::engine::{NewBranch, NewMatch};
use crate::entry::{NewEntries, NewEntry, PackedEntries, Seq, check_size};
use crate::error::StoreError;
use crate::genesis::{GENESIS_BYTES_MAX, Genesis};
use crate::names::{BranchName, MatchName};

impl Store {
    /// Creates a match with its first entries, all or nothing. `genesis.played_by` is the module that judged them, which is
    /// recorded unless there are none or the match pins it (MD-9).
    ///
    /// # Errors
    /// [`StoreError::AlreadyExists`], [`StoreError::TooLarge`], and every error of writing.
    pub fn create_match(
        &self,
        name: &MatchName,
        genesis: &Genesis,
        entries: Vec<NewEntry>,
    ) -> Result<(), StoreError> {
        self.create_long_match(name, genesis, entries.into())
    }

    /// Creates a match as [`create_match`](Self::create_match) does, with as many entries as there may be.
    ///
    /// # Errors
    /// As for [`create_match`](Self::create_match).
    pub fn create_long_match(
        &self,
        name: &MatchName,
        genesis: &Genesis,
        entries: PackedEntries,
    ) -> Result<(), StoreError> {
        entries.check_sizes()?;
        self.create(NewMatch::of(name, genesis, entries))
    }

    pub(super) fn create(&self, new: NewMatch) -> Result<(), StoreError> {
        check_size("a genesis", new.genesis.len(), GENESIS_BYTES_MAX)?;
        let has_entries =
            new.branches.iter().flat_map(|branch| &branch.batches).any(|batch| !batch.entries.is_empty());
        let module = new.module.filter(|_| has_entries);
        self.engine.create_match(NewMatch { module, ..new })
    }

    /// Creates a branch that begins after entry `at` of another; 0 begins it at the setup.
    ///
    /// # Errors
    /// [`StoreError::BranchExists`], [`StoreError::NoSuchMatch`], [`StoreError::NoSuchBranch`],
    /// [`StoreError::NoSuchSeq`] when `from` is shorter, and every error of writing.
    pub fn create_branch(
        &self,
        match_name: &MatchName,
        name: &BranchName,
        from: &BranchName,
        at: Seq,
    ) -> Result<(), StoreError> {
        self.create_branch_with(match_name, name, from, at, Vec::new())
    }

    /// Creates a branch as [`create_branch`](Store::create_branch) does, with its first own entries, all or nothing.
    ///
    /// They are numbered from `at + 1` and carry no idempotency key.
    ///
    /// # Errors
    /// Every error of [`create_branch`](Store::create_branch), [`StoreError::OtherModule`], and [`StoreError::TooLarge`].
    pub fn create_branch_with(
        &self,
        match_name: &MatchName,
        name: &BranchName,
        from: &BranchName,
        at: Seq,
        entries: impl Into<NewEntries>,
    ) -> Result<(), StoreError> {
        let NewEntries { entries, module } = entries.into();
        entries.check_sizes()?;
        let match_name = match_name.clone();
        let name = name.clone();
        let from = from.clone();
        let module = module.filter(|_| !entries.is_empty());
        self.engine.create_branch(NewBranch { match_name, name, from, at }, NewEntries { entries, module })
    }

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
