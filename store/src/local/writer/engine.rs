//! The engine on disk: the committer writes while other threads read the records.

use std::sync::Arc;

use turnfold_core::Digest;

use super::committer::{CommitSharing, Committer};
use super::ledger::{BranchState, Ledger, Staged};
use super::{delete, grants, notes};
use crate::engine::{Append, Engine, EngineReader, KeyedBatch, NewBranch, NewMatch, Then};
use crate::entry::NewEntries;
use crate::error::StoreError;
use crate::grant::{Grant, GrantId, JoinedSeat, NewGrant};
use crate::granting::Joining;
use crate::local::backend::Backend;
use crate::local::journal::op::Op;
use crate::local::layout::key;
use crate::local::reader::records::Records;
use crate::names::{BranchName, MatchName};
use crate::note::{Note, NoteId};
use crate::reader::found::Head;
use crate::reader::store_report::Appended;
use crate::snapshots::Snapshots;

/// A store on disk or in memory.
pub(crate) struct Local {
    // The committer is the first field, so its thread ends before the backend closes.
    committer: Committer,
    records: Arc<Records>,
}

impl Local {
    pub(crate) fn start(backend: Box<dyn Backend>, snapshots: Option<Snapshots>) -> Result<Self, StoreError> {
        let records = Arc::new(Records::new(backend, snapshots));
        let record = records.store_record()?;
        let committer = Committer::start(Arc::clone(&records), record)?;
        Ok(Self { committer, records })
    }

    pub(crate) fn records(&self) -> &Records {
        &self.records
    }

    /// Writes the grants of a match unchanged, as another store had them.
    pub(crate) fn keep_grants(
        &self,
        match_name: &MatchName,
        grants: Vec<(Digest, Grant)>,
    ) -> Result<(), StoreError> {
        grants::keep(self.both(), match_name, grants)
    }

    /// Closes the store. Its journal then records where it ends, so that missing commits at the end are noticed.
    pub(crate) fn close(self) -> Result<(), StoreError> {
        let Self { mut committer, records } = self;
        committer.stop()?;
        // This is the only handle, because the committer's thread has ended.
        Arc::into_inner(records).map_or(Ok(()), |records| Ok(records.backend.close()?))
    }

    fn both(&self) -> (&Committer, &Records) {
        (&self.committer, &self.records)
    }
}

impl Engine for Local {
    fn reader(&self) -> Arc<dyn EngineReader> {
        Arc::<Records>::clone(&self.records)
    }

    fn create_match(&self, new: NewMatch) -> Result<(), StoreError> {
        let NewMatch { name: match_name, genesis, module, branches } = new;
        self.committer.perform(CommitSharing::Alone, move |ledger, staged| {
            if ledger.records.backend.get(&key::of_match(&match_name))?.is_some() {
                return Err(StoreError::AlreadyExists { match_name });
            }
            let id = ledger.take_ids(1 + branches.len() as u64);
            staged.add(&Op::CreateMatch { id, name: match_name.clone(), genesis: &genesis });
            if let Some(module) = module {
                staged.add(&Op::RecordModule { match_name: match_name.clone(), module });
            }
            for (id, branch) in (id + 1..).zip(branches) {
                let name = branch.name.clone();
                let names = (match_name.clone(), branch.name);
                let mut state = BranchState { id, head: branch.before };
                if let Some(parent) = branch.from {
                    let (match_name, Head { seq: at, link }) = (match_name.clone(), branch.before);
                    staged.add(&Op::CreateBranch { id, match_name, name, parent, at, link });
                }
                for KeyedBatch { idempotency_key, entries } in branch.batches {
                    staged.append(&mut state, &entries, idempotency_key.as_ref());
                }
                ledger.branches.insert(names, state);
            }
            Ok(())
        })
    }

    fn create_branch(&self, new: NewBranch, entries: NewEntries) -> Result<(), StoreError> {
        let NewEntries { entries, module } = entries;
        let NewBranch { match_name, name, from, at } = new;
        self.committer.perform(CommitSharing::Alone, move |ledger, staged| {
            let parent = ledger.records.found_branch(&match_name, &from)?;
            if ledger.records.backend.get(&key::of_branch(parent.found_match.number(), &name))?.is_some() {
                return Err(StoreError::BranchExists { match_name, branch: name });
            }
            parent.require(at)?;
            let link = parent.link_at(ledger.records.as_ref(), at)?;
            if let Some(module) = module {
                ledger.play_by(staged, &match_name, module)?;
            }
            let id = ledger.take_ids(1);
            let mut state = BranchState { id, head: Head { seq: at, link } };
            let names = (match_name, name);
            let (match_name, name) = names.clone();
            staged.add(&Op::CreateBranch { id, match_name, name, parent: from, at, link });
            staged.append(&mut state, &entries, None);
            ledger.branches.insert(names, state);
            Ok(())
        })
    }

    fn delete_branch(&self, match_name: &MatchName, name: &BranchName) -> Result<(), StoreError> {
        delete::delete_branch(self.both(), match_name.clone(), name.clone())
    }

    fn rename_branch(
        &self,
        match_name: &MatchName,
        name: &BranchName,
        new: &BranchName,
    ) -> Result<(), StoreError> {
        // The guard waits until walks, such as a backup, no longer hold the branches.
        let _alone = self.records.change_branches();
        let names = (match_name.clone(), name.clone());
        let new = new.clone();
        let stage = |ledger: &mut Ledger, staged: &mut Staged| rename_branch(ledger, staged, names, new);
        self.committer.perform(CommitSharing::Alone, stage)
    }

    fn delete_matches(&self, names: &[MatchName]) -> Result<(), StoreError> {
        delete::delete_matches(self.both(), names.to_vec())
    }

    fn rename_matches(&self, names: &[(MatchName, MatchName)]) -> Result<(), StoreError> {
        // The guard waits until no reader, such as a backup, holds the matches.
        let _names = self.records.change_matches();
        let _grants = self.records.change_grants();
        let names = names.to_vec();
        self.committer.perform(CommitSharing::Alone, move |ledger, staged| {
            names.into_iter().try_for_each(|(name, new)| rename_match(ledger, staged, name, new))
        })
    }

    fn append(&self, append: Append) -> Result<Appended, StoreError> {
        self.committer.perform(sharing(&append), |ledger, staged| stage(append, ledger, staged))
    }

    fn append_then(&self, append: Append, then: Then) {
        self.committer.submit(sharing(&append), |ledger, staged| stage(append, ledger, staged), then);
    }

    fn grant(&self, hash: &Digest, new: NewGrant, now_ms: i64) -> Result<(), StoreError> {
        grants::grant(self.both(), hash, new, now_ms)
    }

    fn join(&self, invitation: &Digest, joining: Joining<'_>) -> Result<JoinedSeat, StoreError> {
        grants::join(self.both(), invitation, joining)
    }

    fn revoke_grant(&self, match_name: &MatchName, id: GrantId, now_ms: i64) -> Result<Digest, StoreError> {
        grants::revoke(self.both(), match_name, id, now_ms)
    }

    fn write_note(&self, match_name: &MatchName, note: Note, is_moved: bool) -> Result<(), StoreError> {
        notes::write(&self.committer, match_name, note, is_moved)
    }

    fn remove_note(&self, match_name: &MatchName, id: NoteId) -> Result<(), StoreError> {
        notes::remove(&self.committer, match_name, id)
    }

    fn close(self: Box<Self>) -> Result<(), StoreError> {
        Self::close(*self)
    }
}

/// Returns whether an append may share a sync with others.
fn sharing(append: &Append) -> CommitSharing {
    let Append { match_name, branch, idempotency_key, .. } = append;
    CommitSharing::Shared(idempotency_key.clone().map(|key| (match_name.clone(), branch.clone(), key)))
}

fn stage(append: Append, ledger: &mut Ledger, staged: &mut Staged) -> Result<Appended, StoreError> {
    let Append { match_name, branch, expected_id, expected_head, entries, module, idempotency_key } = append;
    let names = (match_name, branch);
    let mut state = if let Some(state) = ledger.branches.get(&names) {
        *state
    } else {
        let branch = ledger.records.found_branch(&names.0, &names.1)?;
        BranchState { id: branch.found.id, head: branch.head }
    };
    if expected_id.is_some_and(|expected| expected.branch != state.id) {
        let (match_name, branch) = names;
        return Err(StoreError::NoSuchBranch { match_name, branch });
    }
    if let Some(idempotency_key) = &idempotency_key {
        let earlier = ledger.records.keyed(state.id, idempotency_key);
        if let Some(earlier) = earlier.map_err(|error| error.within(&names.0, Some(&names.1)))? {
            let branch = ledger.records.found_branch(&names.0, &names.1)?;
            return branch.repeated(ledger.records.as_ref(), earlier.first..=earlier.last, &entries);
        }
    }
    let before = state.head;
    if before.seq != expected_head {
        let (match_name, branch) = names;
        return Err(StoreError::Conflict { match_name, branch, expected: expected_head, head: before.seq });
    }
    if let Some(module) = module {
        ledger.play_by(staged, &names.0, module)?;
    }
    staged.append(&mut state, &entries, idempotency_key.as_ref());
    ledger.branches.insert(names, state);
    Ok(Appended { first: before.seq + 1, last: state.head.seq, repeated: false })
}

fn rename_match(
    ledger: &mut Ledger,
    staged: &mut Staged,
    name: MatchName,
    new: MatchName,
) -> Result<(), StoreError> {
    ledger.records.found_match(&name)?;
    if ledger.records.backend.get(&key::of_match(&new))?.is_some() {
        return Err(StoreError::AlreadyExists { match_name: new });
    }
    ledger.forget(&name);
    staged.add(&Op::RenameMatch { name, new });
    Ok(())
}

fn rename_branch(
    ledger: &mut Ledger,
    staged: &mut Staged,
    (match_name, name): (MatchName, BranchName),
    new: BranchName,
) -> Result<(), StoreError> {
    let (found_match, branches) = ledger.records.branches_of(&match_name)?;
    ledger.records.find_branch(&found_match, &name)?;
    if branches.iter().any(|other| other.name == new) {
        return Err(StoreError::BranchExists { match_name, branch: new });
    }
    ledger.branches.remove(&(match_name.clone(), name.clone()));
    staged.add(&Op::RenameBranch { match_name, name, new });
    Ok(())
}
