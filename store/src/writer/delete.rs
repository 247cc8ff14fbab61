//! Deleting matches and branches: all records of them go in one commit, which leaves a record of each that it was.

use super::committer::{Last, Staged, Work, Writer};
use super::create::recount;
use crate::backend::{Change, Place};
use crate::error::StoreError;
use crate::layout::key;
use crate::layout::record::{self, GoneRecord};
use crate::names::{BranchName, MatchName};
use crate::open::Store;
use crate::reader::lookup::{FoundBranch, FoundMatch};

pub(crate) struct BranchDeletion {
    match_name: MatchName,
    name: BranchName,
}

pub(crate) struct MatchDeletion {
    name: MatchName,
}

impl Store {
    /// Deletes a branch with the entries that only it has. It waits for a backup to be done with a match.
    ///
    /// # Errors
    /// [`StoreError::MainBranch`] and [`StoreError::BranchInUse`] when it may not be deleted,
    /// [`StoreError::NoSuchMatch`], [`StoreError::NoSuchBranch`], and those of writing.
    pub fn delete_branch(&self, match_name: &MatchName, name: &BranchName) -> Result<(), StoreError> {
        if name.is_main() {
            return Err(StoreError::MainBranch { match_name: match_name.clone(), action: "deleted" });
        }
        let _alone = self.shared.change_branches();
        let deletion = BranchDeletion { match_name: match_name.clone(), name: name.clone() };
        self.committer.perform(Work::DeleteBranch(deletion)).map(|_| ())
    }

    /// Deletes a match with all its branches and entries, all or nothing. It waits for a backup to be done.
    ///
    /// Who appends to it afterwards is told that there is no such match.
    ///
    /// # Errors
    /// [`StoreError::NoSuchMatch`], and those of reading and writing.
    pub fn delete_match(&self, name: &MatchName) -> Result<(), StoreError> {
        let _names = self.shared.change_matches();
        let _alone = self.shared.change_branches();
        self.committer.perform(Work::DeleteMatch(MatchDeletion { name: name.clone() })).map(|_| ())
    }
}

impl Writer {
    pub(crate) fn stage_branch_deletion(
        &mut self,
        deletion: &BranchDeletion,
        staged: &mut Staged,
    ) -> Result<(), StoreError> {
        let BranchDeletion { match_name, name } = deletion;
        let (found_match, branches) = self.shared.branch_records(match_name)?;
        let found = self.shared.find_branch(match_name, &found_match, name)?;
        for (other, key, value) in branches {
            let other_found = FoundBranch::read(&found_match, &other, &key, &value);
            let other_found = other_found.map_err(|error| error.within(match_name, Some(&other)))?;
            if other_found.parent.is_some_and(|parent| parent.id == found.id) {
                let (match_name, branch) = (match_name.clone(), name.clone());
                return Err(StoreError::BranchInUse { match_name, branch, child: other });
            }
        }
        self.stage_branch_removal((match_name, &found_match), (name, &found), staged)?;
        staged.changes.push(recount(match_name, &found_match, found_match.branches.saturating_sub(1)));
        if self.record.now.names(match_name, Some(name)) {
            let main = BranchName::main();
            let (_, _, head) = self.shared.find(match_name, &main)?;
            staged.last = Last::At(Place { match_name: match_name.clone(), branch: main, seq: head.seq });
        }
        Ok(())
    }

    pub(crate) fn stage_match_deletion(
        &mut self,
        MatchDeletion { name }: &MatchDeletion,
        staged: &mut Staged,
    ) -> Result<(), StoreError> {
        let (found_match, branches) = self.shared.branch_records(name)?;
        for (branch, key, value) in branches {
            let found = FoundBranch::read(&found_match, &branch, &key, &value);
            let found = found.map_err(|error| error.within(name, Some(&branch)))?;
            self.stage_branch_removal((name, &found_match), (&branch, &found), staged)?;
        }
        staged.changes.push(Change { key: key::of_match(name), value: None });
        let record = GoneRecord { match_name: name.clone(), branch: None, became: None, entries: 0 };
        staged.changes.push(self.gone(found_match.id, &record));
        if self.record.now.names(name, None) {
            staged.last = Last::Nowhere;
        }
        self.record.matches = self.record.matches.saturating_sub(1);
        Ok(())
    }

    /// Removes all records of a branch, and leaves one that says so.
    fn stage_branch_removal(
        &mut self,
        (match_name, found_match): (&MatchName, &FoundMatch),
        (name, found): (&BranchName, &FoundBranch),
        staged: &mut Staged,
    ) -> Result<(), StoreError> {
        let head = self.shared.head(found).map_err(|error| error.within(match_name, Some(name)))?;
        let mut gone = vec![key::of_branch(found_match.id, name), key::of_head(found.id)];
        for range in [key::idempotency_of(found.id), key::pages_of(found.id), key::tails_of(found.id)] {
            for record in self.shared.scan(range) {
                gone.push(record?.0);
            }
        }
        staged.changes.extend(gone.into_iter().map(|key| Change { key, value: None }));
        let record = GoneRecord {
            match_name: match_name.clone(),
            branch: Some(name.clone()),
            became: None,
            entries: head.seq - found.forked_at(),
        };
        staged.changes.push(self.gone(found.id, &record));
        self.branches.remove(&(match_name.clone(), name.clone()));
        Ok(())
    }

    /// Makes the change that notes that a name goes in the next commit.
    pub(crate) fn gone(&self, id: u64, record: &GoneRecord) -> Change {
        record::put(key::of_gone(id, self.record.now.commits + 1), record)
    }
}
