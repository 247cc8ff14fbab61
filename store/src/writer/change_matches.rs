//! Creates, renames and deletes matches and branches.

use super::store::Store;
use crate::engine::{NewBranch, NewMatch};
use crate::entry::{NewEntries, NewEntry, PackedEntries, Seq, check_size};
use crate::error::StoreError;
use crate::genesis::{GENESIS_BYTES_MAX, Genesis};
use crate::names::{BranchName, MatchName};

impl Store {
    /// Creates a match with its first entries, all or nothing. `genesis.played_by` is the module that judged them. It
    /// is recorded, unless there are no entries or the match pins a module (MD-9).
    ///
    /// # Errors
    /// Returns [`StoreError::AlreadyExists`], [`StoreError::TooLarge`], or any error of writing.
    pub fn create_match(
        &self,
        name: &MatchName,
        genesis: &Genesis,
        entries: Vec<NewEntry>,
    ) -> Result<(), StoreError> {
        self.create_long_match(name, genesis, entries.into())
    }

    /// Creates a match like [`create_match`](Self::create_match), with any number of first entries.
    ///
    /// # Errors
    /// Returns the errors of [`create_match`](Self::create_match).
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

    /// Creates a branch that begins after entry `at` of another one, 0 for the setup, with its first own entries, all or
    /// nothing. They are numbered from `at + 1` and have no idempotency key.
    ///
    /// # Errors
    /// Returns [`StoreError::BranchExists`], [`StoreError::NoSuchMatch`], [`StoreError::NoSuchBranch`],
    /// [`StoreError::NoSuchSeq`] if `from` is shorter, [`StoreError::OtherModule`], [`StoreError::TooLarge`], or any error
    /// of writing.
    pub fn create_branch(
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

    /// Renames a match. It waits for a running backup to end.
    ///
    /// Later appends under the old name return [`StoreError::NoSuchMatch`].
    ///
    /// # Errors
    /// Returns [`StoreError::NoSuchMatch`], [`StoreError::AlreadyExists`] if a match has the new name, or any error of
    /// writing.
    pub fn rename_match(&self, name: &MatchName, new: &MatchName) -> Result<(), StoreError> {
        self.rename_matches(&[(name.clone(), new.clone())])
    }

    /// Renames matches like [`rename_match`](Self::rename_match), from the first name of each pair to the second, all
    /// or none. A new name must not be in use, not even by a match that is also renamed.
    ///
    /// # Errors
    /// Returns the errors of [`rename_match`](Self::rename_match), for the first match that cannot be renamed.
    pub fn rename_matches(&self, names: &[(MatchName, MatchName)]) -> Result<(), StoreError> {
        self.engine.rename_matches(names)
    }

    /// Renames a branch, even if other branches begin on it. It waits until a running backup has finished its current
    /// match.
    ///
    /// # Errors
    /// Returns [`StoreError::MainBranch`] for `main`, [`StoreError::NoSuchMatch`], [`StoreError::NoSuchBranch`],
    /// [`StoreError::BranchExists`] if a branch of the match has the new name, or any error of writing.
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

    /// Deletes a branch and its own entries. It waits until a running backup has finished its current match.
    ///
    /// # Errors
    /// Returns [`StoreError::MainBranch`] for `main`, [`StoreError::BranchInUse`] if a branch begins on it,
    /// [`StoreError::NoSuchMatch`], [`StoreError::NoSuchBranch`], or any error of writing.
    pub fn delete_branch(&self, match_name: &MatchName, name: &BranchName) -> Result<(), StoreError> {
        if name.is_main() {
            return Err(StoreError::MainBranch { match_name: match_name.clone(), action: "deleted" });
        }
        self.engine.delete_branch(match_name, name)
    }

    /// Deletes a match with all its branches, entries and grants, all or nothing. It waits for a running backup to end.
    ///
    /// Later appends to the match return [`StoreError::NoSuchMatch`].
    ///
    /// # Errors
    /// Returns [`StoreError::NoSuchMatch`], or any error of reading and writing.
    pub fn delete_match(&self, name: &MatchName) -> Result<(), StoreError> {
        self.delete_matches(std::slice::from_ref(name))
    }

    /// Deletes matches like [`delete_match`](Self::delete_match), all or none.
    ///
    /// # Errors
    /// Returns the errors of [`delete_match`](Self::delete_match), for the first match that cannot be deleted.
    pub fn delete_matches(&self, names: &[MatchName]) -> Result<(), StoreError> {
        self.engine.delete_matches(names)
    }
}
