//! Creating matches and branches.

use super::append::BranchState;
use super::committer::{Last, Staged, Work, Writer};
use crate::backend::{Change, Place};
use crate::entry::{GENESIS_BYTES_MAX, Genesis, NewEntry, Seq, check_size};
use crate::error::StoreError;
use crate::layout::record::{BranchRecord, MatchRecord, Parent};
use crate::layout::{chain, key, record};
use crate::names::{BranchName, MatchName};
use crate::open::Store;
use crate::reader::lookup::FoundMatch;

pub(crate) struct MatchCreation {
    name: MatchName,
    genesis: Vec<u8>,
    entries: Vec<NewEntry>,
}

pub(crate) struct BranchCreation {
    match_name: MatchName,
    name: BranchName,
    from: BranchName,
    at: Seq,
    entries: Vec<NewEntry>,
}

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
        let creation = MatchCreation { name: name.clone(), genesis, entries };
        self.committer.perform(Work::CreateMatch(creation)).map(|_| ())
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
        let creation = BranchCreation { match_name, name, from, at, entries };
        self.committer.perform(Work::CreateBranch(creation)).map(|_| ())
    }
}

impl Writer {
    pub(crate) fn stage_match(
        &mut self,
        creation: MatchCreation,
        staged: &mut Staged,
    ) -> Result<(), StoreError> {
        let MatchCreation { name, genesis, entries } = creation;
        let match_key = key::of_match(&name);
        if self.shared.backend.get(&match_key)?.is_some() {
            return Err(StoreError::AlreadyExists { match_name: name });
        }
        let (id, branch_id) = (self.record.next_id, self.record.next_id + 1);
        let match_record = MatchRecord { id, branches: 1, genesis: &genesis };
        staged.changes.push(record::put(match_key, &match_record));
        let main = BranchName::main();
        let branch_record = BranchRecord { id: branch_id, parent: None };
        staged.changes.push(record::put(key::of_branch(id, &main), &branch_record));
        staged.entries += entries.len() as u64;
        let mut state = BranchState::new(branch_id, 0, chain::genesis_link(&genesis));
        staged.changes.extend(state.extend(entries, None));
        staged.last = Last::At(Place { match_name: name.clone(), branch: main.clone(), seq: state.head.seq });
        staged.touched.push((name.clone(), main.clone()));
        self.branches.insert((name, main), state);
        self.record.next_id += 2;
        self.record.matches += 1;
        Ok(())
    }

    pub(crate) fn stage_branch(
        &mut self,
        creation: BranchCreation,
        staged: &mut Staged,
    ) -> Result<(), StoreError> {
        let BranchCreation { match_name, name, from, at, entries } = creation;
        let (found_match, found_from, head) = self.shared.find(&match_name, &from)?;
        if self.shared.backend.get(&key::of_branch(found_match.id, &name))?.is_some() {
            return Err(StoreError::BranchExists { match_name, branch: name });
        }
        if at > head.seq {
            return Err(StoreError::NoSuchSeq { match_name, branch: from, seq: at, head: head.seq });
        }
        let link = self.shared.link_at(&match_name, &from, at)?;
        let id = self.record.next_id;
        let parent = Parent { name: from.to_string(), id: found_from.id, at, link };
        let branch_record = BranchRecord { id, parent: Some(parent) };
        staged.changes.push(record::put(key::of_branch(found_match.id, &name), &branch_record));
        staged.changes.push(recount(&match_name, &found_match, found_match.branches + 1));
        staged.entries += entries.len() as u64;
        let mut state = BranchState::new(id, at, link);
        staged.changes.extend(state.extend(entries, None));
        staged.last =
            Last::At(Place { match_name: match_name.clone(), branch: name.clone(), seq: state.head.seq });
        staged.touched.push((match_name.clone(), name.clone()));
        self.branches.insert((match_name, name), state);
        self.record.next_id += 1;
        Ok(())
    }
}

/// Writes a match's record again with another number of branches.
pub(crate) fn recount(name: &MatchName, found: &FoundMatch, branches: u64) -> Change {
    let record = MatchRecord { id: found.id, branches, genesis: &found.genesis };
    record::put(key::of_match(name), &record)
}
