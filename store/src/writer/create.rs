//! Creating matches and branches.

use super::store::Store;
use crate::engine::NewBranch;
use crate::entry::{GENESIS_BYTES_MAX, Genesis, NewEntry, Seq, check_size};
use crate::error::StoreError;
use crate::names::{BranchName, MatchName};

impl Store {
    /// Creates a match with its first entries, all or nothing.
    ///
    /// # Errors
    /// [`StoreError::AlreadyExists`], [`StoreError::TooLarge`], and every error of writing.
    pub fn create_match(
        &self,
        name: &MatchName,
        genesis: &Genesis,
        entries: Vec<NewEntry>,
    ) -> Result<(), StoreError> {
        let genesis = genesis.encode();
        check_size("a genesis", genesis.len(), GENESIS_BYTES_MAX)?;
        entries.iter().try_for_each(NewEntry::check_size)?;
        self.engine.create_match(name, genesis, entries)
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
    /// Every error of [`create_branch`](Store::create_branch), and [`StoreError::TooLarge`].
    pub fn create_branch_with(
        &self,
        match_name: &MatchName,
        name: &BranchName,
        from: &BranchName,
        at: Seq,
        entries: Vec<NewEntry>,
    ) -> Result<(), StoreError> {
        entries.iter().try_for_each(NewEntry::check_size)?;
        let (match_name, name, from) = (match_name.clone(), name.clone(), from.clone());
        self.engine.create_branch(NewBranch { match_name, name, from, at }, entries)
    }
}
