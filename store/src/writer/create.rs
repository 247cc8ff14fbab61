//! Creating matches and branches.

use super::branch_state::BranchState;
use super::committer::Order;
use super::store::Store;
use crate::entry::{GENESIS_BYTES_MAX, Genesis, NewEntry, Seq, check_size};
use crate::error::StoreError;
use crate::layout::record::{BranchRecord, Parent};
use crate::layout::{chain, key};
use crate::names::{BranchName, MatchName};
use crate::reader::found::FoundMatch;

impl Store {
    /// Creates a match with its first entries, all or nothing.
    ///
    /// # Errors
    /// [`StoreError::AlreadyExists`], [`StoreError::TooLarge`], and those of writing.
    pub fn create_match(
        &self,
        name: &MatchName,
        genesis: &Genesis,
        entries: Vec<NewEntry>,
    ) -> Result<(), StoreError> {
        let genesis = genesis.encode();
        check_size("a genesis", genesis.len(), GENESIS_BYTES_MAX)?;
        entries.iter().try_for_each(NewEntry::check_size)?;
        let name = name.clone();
        self.committer.perform(Order::Alone, move |ledger, staged| {
            if ledger.records.backend.get(&key::of_match(&name))?.is_some() {
                return Err(StoreError::AlreadyExists { match_name: name });
            }
            let id = ledger.take_ids(2);
            let of = FoundMatch { name, id, branches: 1, genesis };
            staged.put_match(&of, 1);
            let main = BranchName::main();
            let branch_id = id + 1;
            staged.put(key::of_branch(id, &main), &BranchRecord { id: branch_id, parent: None });
            let mut state = BranchState::new(branch_id, 0, chain::genesis_link(&of.genesis));
            staged.append((of.name.clone(), main.clone()), &mut state, entries, None);
            ledger.branches.insert((of.name, main), state);
            ledger.record.matches += 1;
            Ok(())
        })
    }

    /// Creates a branch that begins after entry `at` of another; 0 begins it at the setup.
    ///
    /// # Errors
    /// [`StoreError::BranchExists`], [`StoreError::NoSuchMatch`], [`StoreError::NoSuchBranch`],
    /// [`StoreError::NoSuchSeq`] when `from` is shorter, and those of writing.
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
    /// Those of [`create_branch`](Store::create_branch), and [`StoreError::TooLarge`].
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
        self.committer.perform(Order::Alone, move |ledger, staged| {
            let parent = ledger.records.find(&match_name, &from)?;
            if ledger.records.backend.get(&key::of_branch(parent.of.id, &name))?.is_some() {
                return Err(StoreError::BranchExists { match_name, branch: name });
            }
            parent.require(at)?;
            let link = parent.link_at(&ledger.records, at)?;
            let id = ledger.take_ids(1);
            let begin = Parent { name: from.to_string(), id: parent.branch.id, at, link };
            let record = BranchRecord { id, parent: Some(begin) };
            staged.put(key::of_branch(parent.of.id, &name), &record);
            staged.put_match(&parent.of, parent.of.branches + 1);
            let mut state = BranchState::new(id, at, link);
            staged.append((match_name.clone(), name.clone()), &mut state, entries, None);
            ledger.branches.insert((match_name, name), state);
            Ok(())
        })
    }
}
