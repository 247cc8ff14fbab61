//! The engine on disk: the committer writes while other threads read the records.

use std::sync::Arc;

use turnfold_core::Digest;

use crate::engine::{Append, Engine, EngineReader, KeyedBatch, NewBranch, NewMatch, Then};
use crate::entry::NewEntries;
use crate::error::{Placed, StoreError};
use crate::grant::{Grant, GrantId, GrantKind, JoinedSeat, NewGrant};
use crate::granting::{self, GrantBooks, Joining, Spent};
use crate::local::backend::Backend;
use crate::local::committer::{BranchState, CommitSharing, Committer, Ledger, Staged};
use crate::local::journal::commit::Op;
use crate::local::key;
use crate::local::records::Records;
use crate::names::{BranchName, MatchName};
use crate::note::{Note, NoteId, PlacedNote, require_room};
use crate::reader::branch::{Branch, FoundMatch, Head};
use crate::reader::store_report::Appended;
use crate::snapshots::{SNAPSHOT_INTERVAL, Snapshots};

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

    pub(crate) fn close(self) -> Result<(), StoreError> {
        let Self { mut committer, records } = self;
        committer.stop()?;
        // This is the only handle, because the committer's thread has ended.
        if let Some(records) = Arc::into_inner(records) {
            // The journal then records where it ends, so that missing commits at the end are noticed.
            records.backend.close()?;
        }
        Ok(())
    }

    /// Writes the grants of a match unchanged, as another store had them.
    pub(crate) fn keep_grants(
        &self,
        match_name: &MatchName,
        grants: Vec<(Digest, Grant)>,
    ) -> Result<(), StoreError> {
        let mut books = self.records.change_grants();
        self.records.found_match(match_name)?;
        books.clear();
        self.write_grants(match_name, Vec::new(), grants)
    }

    fn write_grants(
        &self,
        match_name: &MatchName,
        removed: Vec<Digest>,
        written: Vec<(Digest, Grant)>,
    ) -> Result<(), StoreError> {
        let match_name = match_name.clone();
        self.committer.perform(CommitSharing::Alone, move |_, staged| {
            for hash in removed {
                staged.add(&Op::RemoveGrant { match_name: match_name.clone(), hash });
            }
            for (hash, grant) in written {
                staged.add(&Op::SetGrant { hash, grant });
            }
            Ok(())
        })
    }

    /// Makes a grant of a match, and writes `replaced` in the same commit. Dead grants are removed to make room; the
    /// replaced one does not count.
    fn make_grant(
        &self,
        books: &mut GrantBooks,
        found_match: &FoundMatch,
        (hash, grant): (Digest, Grant),
        replaced: Option<(Digest, Grant)>,
    ) -> Result<(), StoreError> {
        if self.records.grant_record(&hash)?.is_some() {
            return Err(StoreError::GrantExists { id: GrantId::of(&hash) });
        }
        let grants = self.records.grants_in(books, found_match)?;
        let replaced_hash = replaced.as_ref().map(|(replaced, _)| *replaced);
        let dead = grants.make_room(&found_match.name, (&hash, &grant), replaced_hash)?;
        grants.forget_dead(dead.len());
        let mut written = vec![(hash, grant)];
        written.extend(replaced);
        for (hash, grant) in &written {
            grants.set(*hash, grant);
        }
        // After a failed write the books may be wrong, so they are read again.
        self.write_grants(&found_match.name, dead, written).inspect_err(|_| books.clear())
    }

    fn remove_snapshots(&self, links: &[Digest]) {
        if let Some(snapshots) = &self.records.snapshots {
            for link in links {
                snapshots.remove(link);
            }
        }
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
                    let match_name = match_name.clone();
                    let Head { seq: at, link } = branch.before;
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
            let names = (match_name.clone(), name.clone());
            staged.add(&Op::CreateBranch { id, match_name, name, parent: from, at, link });
            staged.append(&mut state, &entries, None);
            ledger.branches.insert(names, state);
            Ok(())
        })
    }

    fn delete_branch(&self, match_name: &MatchName, name: &BranchName) -> Result<(), StoreError> {
        // The guard waits until walks, such as a backup, no longer hold the branches.
        let _alone = self.records.change_branches();
        let match_name = match_name.clone();
        let name = name.clone();
        let links = self.committer.perform(CommitSharing::Alone, move |ledger, staged| {
            let (found_match, branches) = ledger.records.branches_of(&match_name)?;
            let found = ledger.records.find_branch(&found_match, &name)?;
            for other in branches {
                if other.parent.is_some_and(|parent| parent.id == found.id) {
                    return Err(StoreError::BranchInUse { match_name, branch: name, child: other.name });
                }
            }
            let branch = ledger.records.branch(&found_match, found)?;
            let links = snapshot_links(&ledger.records, &branch);
            ledger.branches.remove(&(match_name.clone(), name.clone()));
            staged.add(&Op::DeleteBranch { match_name, name });
            Ok(links)
        })?;
        self.remove_snapshots(&links);
        Ok(())
    }

    fn rename_branch(
        &self,
        match_name: &MatchName,
        name: &BranchName,
        new: &BranchName,
    ) -> Result<(), StoreError> {
        let _alone = self.records.change_branches();
        let match_name = match_name.clone();
        let name = name.clone();
        let new = new.clone();
        self.committer.perform(CommitSharing::Alone, move |ledger, staged| {
            let (found_match, branches) = ledger.records.branches_of(&match_name)?;
            ledger.records.find_branch(&found_match, &name)?;
            if branches.iter().any(|other| other.name == new) {
                return Err(StoreError::BranchExists { match_name, branch: new });
            }
            ledger.branches.remove(&(match_name.clone(), name.clone()));
            staged.add(&Op::RenameBranch { match_name, name, new });
            Ok(())
        })
    }

    fn delete_matches(&self, names: &[MatchName]) -> Result<(), StoreError> {
        // The guards wait until no reader, such as a backup, holds the matches or the branches.
        let _names = self.records.change_matches();
        let _alone = self.records.change_branches();
        let mut grants = self.records.change_grants();
        grants.clear();
        let names = names.to_vec();
        let links = self.committer.perform(CommitSharing::Alone, move |ledger, staged| {
            let mut links = Vec::new();
            for name in names {
                let (found_match, branches) = ledger.records.branches_of(&name)?;
                for branch in branches {
                    let branch = ledger.records.branch(&found_match, branch)?;
                    links.extend(snapshot_links(&ledger.records, &branch));
                }
                ledger.forget(&name);
                staged.add(&Op::DeleteMatch { name });
            }
            Ok(links)
        })?;
        self.remove_snapshots(&links);
        Ok(())
    }

    fn rename_matches(&self, names: &[(MatchName, MatchName)]) -> Result<(), StoreError> {
        let _names = self.records.change_matches();
        let _grants = self.records.change_grants();
        let names = names.to_vec();
        self.committer.perform(CommitSharing::Alone, move |ledger, staged| {
            for (name, new) in names {
                ledger.records.found_match(&name)?;
                if ledger.records.backend.get(&key::of_match(&new))?.is_some() {
                    return Err(StoreError::AlreadyExists { match_name: new });
                }
                ledger.forget(&name);
                staged.add(&Op::RenameMatch { name, new });
            }
            Ok(())
        })
    }

    fn append(&self, append: Append) -> Result<Appended, StoreError> {
        self.committer.perform(sharing(&append), |ledger, staged| stage(append, ledger, staged))
    }

    fn append_then(&self, append: Append, then: Then) {
        self.committer.submit(sharing(&append), |ledger, staged| stage(append, ledger, staged), then);
    }

    // A change of grants is judged while the grants are locked, so two requests cannot both take the last place.
    fn grant(&self, hash: &Digest, new: NewGrant, now_ms: i64) -> Result<(), StoreError> {
        let mut books = self.records.change_grants();
        let found_match = self.records.found_match(&new.match_name)?;
        self.make_grant(&mut books, &found_match, (*hash, new.made(now_ms)), None)
    }

    fn join(&self, invitation: &Digest, joining: Joining<'_>) -> Result<JoinedSeat, StoreError> {
        let records = &self.records;
        let token = joining.token;
        let mut books = records.change_grants();
        let found = records.find_grant(invitation)?;
        let Some(Spent { invitation: spent, joined }) = granting::spend(found, invitation, joining)? else {
            let joined = records.find_grant(token)?.map(JoinedSeat::Again);
            return joined.ok_or_else(|| StoreError::NoSuchGrant { id: GrantId::of(token) });
        };
        let found_match = records.found_match(&spent.match_name)?;
        records.grants_in(&mut books, &found_match)?.require_free(&joined)?;
        let replaced = Some((*invitation, spent));
        self.make_grant(&mut books, &found_match, (*token, joined.clone()), replaced)?;
        Ok(JoinedSeat::Now(joined))
    }

    fn revoke_grant(&self, match_name: &MatchName, id: GrantId, now_ms: i64) -> Result<Digest, StoreError> {
        let records = &self.records;
        let mut books = records.change_grants();
        let found_match = records.found_match(match_name)?;
        let grants = records.grants_in(&mut books, &found_match)?;
        let hash = grants.find(id).ok_or(StoreError::NoSuchGrant { id })?;
        let found = records.grant(&found_match, &hash)?;
        if found.kind == GrantKind::Host {
            granting::require_host_left(match_name, (&hash, &found), records.grants(&found_match)?, now_ms)?;
        }
        if found.revoked_at_ms.is_none() {
            let grant = Grant { revoked_at_ms: Some(now_ms), ..found };
            self.write_grants(match_name, Vec::new(), vec![(hash, grant.clone())])?;
            grants.set(hash, &grant);
        }
        Ok(hash)
    }

    fn write_note(&self, match_name: &MatchName, note: Note, is_moved: bool) -> Result<(), StoreError> {
        let match_name = match_name.clone();
        self.committer.perform(CommitSharing::Alone, move |ledger, staged| {
            let records = ledger.records.as_ref();
            let note = PlacedNote::of(records, &match_name, note)?;
            // The limits do not apply to a note from another store.
            if !is_moved {
                let found_match = records.found_match(&match_name)?;
                require_room(&match_name, &note.note, &records.placed_notes(&found_match)?)?;
            }
            staged.add(&Op::SetNote { match_name, note });
            Ok(())
        })
    }

    fn remove_note(&self, match_name: &MatchName, id: NoteId) -> Result<(), StoreError> {
        let match_name = match_name.clone();
        self.committer.perform(CommitSharing::Alone, move |ledger, staged| {
            let found_match = ledger.records.found_match(&match_name)?;
            if ledger.records.backend.get(&key::of_note(found_match.number(), id))?.is_none() {
                return Err(StoreError::NoSuchNote { id });
            }
            staged.add(&Op::RemoveNote { match_name, id });
            Ok(())
        })
    }

    fn close(self: Box<Self>) -> Result<(), StoreError> {
        Self::close(*self)
    }
}

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
        if let Some(earlier) = earlier.within(&names.0, Some(&names.1))? {
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

fn snapshot_links(records: &Records, branch: &Branch) -> Vec<Digest> {
    let mut links = Vec::new();
    if records.snapshots.as_ref().is_some_and(Snapshots::exist) {
        let first = branch.found.forked_at() / SNAPSHOT_INTERVAL + 1;
        for number in first..=branch.head.seq / SNAPSHOT_INTERVAL {
            // An unreadable link is skipped, because a leftover snapshot only takes space.
            links.extend(branch.link_at(records, number * SNAPSHOT_INTERVAL));
        }
    }
    links
}
