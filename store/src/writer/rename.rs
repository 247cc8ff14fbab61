//! Renaming matches and branches: their ids stay, and with them everything that belongs to them.

use super::committer::{Last, Staged, Work, Writer};
use super::create::recount;
use crate::backend::{Change, Place};
use crate::error::StoreError;
use crate::layout::record::{BranchRecord, GoneRecord, Parent};
use crate::layout::{key, record};
use crate::names::{BranchName, MatchName};
use crate::open::Store;
use crate::reader::lookup::FoundBranch;

pub(crate) struct MatchRenaming {
    name: MatchName,
    new: MatchName,
}

pub(crate) struct BranchRenaming {
    match_name: MatchName,
    name: BranchName,
    new: BranchName,
}

impl Store {
    /// Gives a match another name. It waits for a backup to be done.
    ///
    /// Who appends to it under the old name afterwards is told that there is no such match.
    ///
    /// # Errors
    /// [`StoreError::NoSuchMatch`], [`StoreError::AlreadyExists`] when a match has the new name, and those of writing.
    pub fn rename_match(&self, name: &MatchName, new: &MatchName) -> Result<(), StoreError> {
        let _names = self.shared.change_matches();
        let renaming = MatchRenaming { name: name.clone(), new: new.clone() };
        self.committer.perform(Work::RenameMatch(renaming)).map(|_| ())
    }

    /// Gives a branch another name, also where others begin on it. It waits for a backup to be done with a match.
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
        let _alone = self.shared.change_branches();
        let (match_name, name, new) = (match_name.clone(), name.clone(), new.clone());
        self.committer.perform(Work::RenameBranch(BranchRenaming { match_name, name, new })).map(|_| ())
    }
}

impl Writer {
    pub(crate) fn stage_match_renaming(
        &mut self,
        MatchRenaming { name, new }: &MatchRenaming,
        staged: &mut Staged,
    ) -> Result<(), StoreError> {
        let found = self.shared.find_match(name)?;
        if self.shared.backend.get(&key::of_match(new))?.is_some() {
            return Err(StoreError::AlreadyExists { match_name: new.clone() });
        }
        staged.changes.push(Change { key: key::of_match(name), value: None });
        staged.changes.push(recount(new, &found, found.branches));
        let became = Some(new.to_string());
        let record = GoneRecord { match_name: name.clone(), branch: None, became, entries: 0 };
        staged.changes.push(self.gone(found.id, &record));
        if let Some(last) = self.record.now.last.as_ref().filter(|last| last.match_name == *name) {
            staged.last = Last::At(Place { match_name: new.clone(), ..last.clone() });
        }
        self.branches.retain(|(match_name, _), _| match_name != name);
        self.take_id_for_a_name();
        Ok(())
    }

    pub(crate) fn stage_branch_renaming(
        &mut self,
        BranchRenaming { match_name, name, new }: &BranchRenaming,
        staged: &mut Staged,
    ) -> Result<(), StoreError> {
        let (found_match, branches) = self.shared.branch_records(match_name)?;
        let found = self.shared.find_branch(match_name, &found_match, name)?;
        if branches.iter().any(|(other, ..)| other == new) {
            return Err(StoreError::BranchExists { match_name: match_name.clone(), branch: new.clone() });
        }
        for (other, key, value) in branches {
            let child = FoundBranch::read(&found_match, &other, &key, &value);
            let child = child.map_err(|error| error.within(match_name, Some(&other)))?;
            if let Some(parent) = child.parent.filter(|parent| parent.id == found.id) {
                let parent = Some(Parent { name: new.to_string(), ..parent });
                staged.changes.push(record::put(key, &BranchRecord { id: child.id, parent }));
            }
        }
        staged.changes.push(Change { key: key::of_branch(found_match.id, name), value: None });
        let branch_record = BranchRecord { id: found.id, parent: found.parent };
        staged.changes.push(record::put(key::of_branch(found_match.id, new), &branch_record));
        let (branch, became) = (Some(name.clone()), Some(new.to_string()));
        let record = GoneRecord { match_name: match_name.clone(), branch, became, entries: 0 };
        staged.changes.push(self.gone(found.id, &record));
        let last = self.record.now.last.as_ref();
        if let Some(last) = last.filter(|_| self.record.now.names(match_name, Some(name))) {
            staged.last = Last::At(Place { branch: new.clone(), ..last.clone() });
        }
        self.branches.remove(&(match_name.clone(), name.clone()));
        self.take_id_for_a_name();
        Ok(())
    }

    /// Leaves out an id, so that who counts names meanwhile notices that one has moved.
    fn take_id_for_a_name(&mut self) {
        self.record.next_id += 1;
    }
}
