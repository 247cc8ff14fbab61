//! Replays the operations of commits into records (ST-17).

use serde::Serialize;
use serde::de::DeserializeOwned;
use turnfold_core::Digest;

use crate::chain;
use crate::entry::{EntryBytes, Seq, encode};
use crate::grant::Grant;
use crate::local::backend::{BackendError, StoredRecord};
use crate::local::journal::commit::{Op, Point};
use crate::local::journal::{commit, damaged};
use crate::local::record::{
    BranchRecord, GrantRecord, IdempotencyRecord, MatchGrantRecord, MatchRecord, StoreRecord,
};
use crate::local::{key, record};
use crate::names::{BranchName, MatchName};
use crate::note::{NoteId, PlacedNote};
use crate::reader::branch::{Head, Parent};

pub(crate) trait ReplayTarget {
    fn body(&self, key: &[u8]) -> Result<Option<Vec<u8>>, BackendError>;

    fn records(&self, range: std::ops::Range<Vec<u8>>) -> Result<Vec<StoredRecord>, BackendError>;

    /// Writes a record of one of these tables; `None` removes it.
    fn put(&mut self, key: Vec<u8>, body: Option<Vec<u8>>);

    /// Appends entries that follow the head `before`; `after` is the head behind them.
    fn append(&mut self, branch: u64, before: Head, after: Head, entries: &[&[u8]]);

    fn put_key(&mut self, branch: u64, key: &str, entries: IdempotencyRecord);

    fn forget(&mut self, branch: u64) -> Result<(), BackendError>;

    fn store(&mut self) -> &mut StoreRecord;
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Misfit {
    /// It appends entries to a branch that is missing, or whose head is not the entry before them.
    Entries { branch: u64, expected: Option<Seq>, first: Seq, last: Seq },
    /// It names a match or branch that is missing, or creates one that already exists.
    Named { match_name: MatchName, branch: Option<BranchName> },
    /// It cannot be read, or is nothing that this build writes.
    Unreadable,
}

impl Misfit {
    pub(crate) fn within(&self, commit: u64) -> BackendError {
        let what = match self {
            Self::Entries { first, .. } => {
                format!("entry {first} of a branch does not follow what is before it")
            }
            Self::Named { match_name, branch: None } => format!("match `{match_name}` is not as it was"),
            Self::Named { match_name, branch: Some(branch) } => {
                format!("branch `{branch}` of match `{match_name}` is not as it was")
            }
            Self::Unreadable => "it is not what this build writes".to_owned(),
        };
        damaged(format!("commit {commit}: {what}"))
    }
}

pub(crate) enum ReplayStop {
    Misfit(Misfit),
    Failed(BackendError),
}

impl From<BackendError> for ReplayStop {
    fn from(error: BackendError) -> Self {
        Self::Failed(error)
    }
}

impl ReplayStop {
    pub(crate) fn named(match_name: &MatchName, branch: Option<&BranchName>) -> Self {
        Self::Misfit(Misfit::Named { match_name: match_name.clone(), branch: branch.cloned() })
    }
}

/// Called with each misfit. If it returns an error, the replay ends with it.
pub(crate) type OnMisfit<'a> = &'a mut dyn FnMut(Misfit) -> Result<(), BackendError>;

pub(crate) fn replay(
    target: &mut dyn ReplayTarget,
    commit: Point,
    body: &[u8],
    misfit: OnMisfit<'_>,
) -> Result<(), BackendError> {
    for read in commit::read_ops(body) {
        let done = match read {
            Ok(op) => carry_out(target, op),
            Err(()) => Err(ReplayStop::Misfit(Misfit::Unreadable)),
        };
        match done {
            Ok(()) => {}
            Err(ReplayStop::Misfit(found)) => misfit(found)?,
            Err(ReplayStop::Failed(error)) => return Err(error),
        }
    }
    target.store().end = commit;
    Ok(())
}

pub(crate) fn replay_strictly(
    target: &mut dyn ReplayTarget,
    commit: Point,
    body: &[u8],
) -> Result<(), BackendError> {
    replay(target, commit, body, &mut |misfit| Err(misfit.within(commit.number)))
}

pub(crate) type Done = Result<(), ReplayStop>;

pub(crate) fn carry_out(target: &mut dyn ReplayTarget, op: Op<'_>) -> Done {
    match op {
        Op::CreateMatch { id, name, genesis } => create_match(target, id, &name, genesis),
        Op::CreateBranch { id, match_name, name, parent, at, link } => {
            create_branch(target, id, &match_name, &name, &parent, Head { seq: at, link })
        }
        Op::Append { branch, link, entries } => append(target, branch, link, &entries),
        Op::RenameMatch { name, new } => rename_match(target, &name, &new),
        Op::RenameBranch { match_name, name, new } => rename_branch(target, &match_name, &name, &new),
        Op::DeleteMatch { name } => delete_match(target, &name),
        Op::DeleteBranch { match_name, name } => delete_branch(target, &match_name, &name),
        Op::SetGrant { hash, grant } => set_grant(target, &hash, grant),
        Op::RemoveGrant { match_name, hash } => remove_grant(target, &match_name, &hash),
        Op::RecordModule { match_name, module } => record_module(target, &match_name, module),
        Op::SetNote { match_name, note } => set_note(target, &match_name, &note),
        Op::RemoveNote { match_name, id } => remove_note(target, &match_name, id),
    }
}

fn find<T: DeserializeOwned + Serialize>(
    target: &dyn ReplayTarget,
    what: &str,
    key: &[u8],
) -> Result<Option<T>, BackendError> {
    match target.body(key)? {
        Some(body) => record::read_body(what, &body).map(Some),
        None => Ok(None),
    }
}

fn find_branch(
    target: &dyn ReplayTarget,
    match_id: u64,
    name: &BranchName,
) -> Result<Option<BranchRecord>, BackendError> {
    find(target, "a branch record", &key::of_branch(match_id, name))
}

fn branches_of(
    target: &dyn ReplayTarget,
    match_id: u64,
) -> Result<Vec<(Vec<u8>, BranchRecord)>, BackendError> {
    let mut branches = Vec::new();
    for (key, body) in target.records(key::branches_of(match_id))? {
        branches.push((key, record::read_body("a branch record", &body)?));
    }
    Ok(branches)
}

fn find_head(target: &dyn ReplayTarget, branch: u64) -> Result<Option<Head>, BackendError> {
    find(target, "a head", &key::of_head(branch))
}

fn require_match(
    target: &dyn ReplayTarget,
    name: &MatchName,
    branch: Option<&BranchName>,
) -> Result<MatchRecord, ReplayStop> {
    match target.body(&key::of_match(name))? {
        Some(body) => Ok(MatchRecord::read("a match record", &body)?),
        None => Err(ReplayStop::named(name, branch)),
    }
}

fn require_branch(
    target: &dyn ReplayTarget,
    match_name: &MatchName,
    name: &BranchName,
) -> Result<(MatchRecord, BranchRecord), ReplayStop> {
    let found_match = require_match(target, match_name, Some(name))?;
    match find_branch(target, found_match.id, name)? {
        Some(found) => Ok((found_match, found)),
        None => Err(ReplayStop::named(match_name, Some(name))),
    }
}

fn create_match(target: &mut dyn ReplayTarget, id: u64, name: &MatchName, genesis: &[u8]) -> Done {
    let key = key::of_match(name);
    if target.body(&key)?.is_some() {
        return Err(ReplayStop::named(name, None));
    }
    let record = MatchRecord { id, branches: 1, genesis: genesis.to_vec(), module: None };
    target.put(key, Some(record.encode()));
    let main = BranchRecord { id: id + 1, parent: None };
    target.put(key::of_branch(id, &BranchName::main()), Some(encode(&main)));
    let head = Head { seq: 0, link: chain::genesis_link(genesis) };
    target.put(key::of_head(main.id), Some(encode(&head)));
    let store = target.store();
    store.matches += 1;
    store.next_id = store.next_id.max(id + 2);
    Ok(())
}

fn create_branch(
    target: &mut dyn ReplayTarget,
    id: u64,
    match_name: &MatchName,
    name: &BranchName,
    parent: &BranchName,
    head: Head,
) -> Done {
    let mut found_match = require_match(target, match_name, Some(name))?;
    let Some(found) = find_branch(target, found_match.id, parent)? else {
        return Err(ReplayStop::named(match_name, Some(name)));
    };
    // The parent must have the entry, because a link behind a gap is not proven.
    let has_entry = find_head(target, found.id)?.is_some_and(|found| found.seq >= head.seq);
    if !has_entry || find_branch(target, found_match.id, name)?.is_some() {
        return Err(ReplayStop::named(match_name, Some(name)));
    }
    let parent = Some(Parent { name: parent.to_string(), id: found.id, at: head.seq, link: head.link });
    target.put(key::of_branch(found_match.id, name), Some(encode(&BranchRecord { id, parent })));
    target.put(key::of_head(id), Some(encode(&head)));
    found_match.branches += 1;
    target.put(key::of_match(match_name), Some(found_match.encode()));
    let store = target.store();
    store.next_id = store.next_id.max(id + 1);
    Ok(())
}

fn append(target: &mut dyn ReplayTarget, branch: u64, link: Digest, entries: &[&[u8]]) -> Done {
    let first = entries.first().and_then(|entry| EntryBytes::read(entry));
    let Some(EntryBytes { seq: first, .. }) = first else {
        return Err(ReplayStop::Misfit(Misfit::Unreadable));
    };
    let last = first.saturating_add(entries.len() as u64 - 1);
    let before = find_head(target, branch)?;
    let Some(before) = before.filter(|before| before.seq + 1 == first) else {
        let expected = before.map(|before| before.seq + 1);
        return Err(ReplayStop::Misfit(Misfit::Entries { branch, expected, first, last }));
    };
    let after = Head { seq: last, link };
    target.put(key::of_head(branch), Some(encode(&after)));
    target.append(branch, before, after, entries);
    let mut keyed: Option<(&str, IdempotencyRecord)> = None;
    for entry in entries {
        let Some(EntryBytes { seq, idempotency_key, .. }) = EntryBytes::read(entry) else {
            return Err(ReplayStop::Misfit(Misfit::Unreadable));
        };
        match (&mut keyed, idempotency_key) {
            (Some((key, entries)), Some(found)) if *key == found => entries.last = seq,
            (_, found) => {
                if let Some((key, entries)) = keyed.take() {
                    target.put_key(branch, key, entries);
                }
                keyed = found.map(|key| (key, IdempotencyRecord { first: seq, last: seq }));
            }
        }
    }
    if let Some((key, entries)) = keyed {
        target.put_key(branch, key, entries);
    }
    target.store().entries += entries.len() as u64;
    Ok(())
}

fn rename_match(target: &mut dyn ReplayTarget, name: &MatchName, new: &MatchName) -> Done {
    let key = key::of_match(new);
    let found_match = require_match(target, name, None)?;
    if target.body(&key)?.is_some() {
        return Err(ReplayStop::named(new, None));
    }
    target.put(key::of_match(name), None);
    target.put(key, Some(found_match.encode()));
    for (listed, _) in target.records(key::grants_of(found_match.id))? {
        let Some(hash) = key::hash_after(&listed, key::ID_PREFIX) else { continue };
        let key = key::of_grant(&hash);
        let Some(mut found) = find::<GrantRecord>(target, "a grant", &key)? else { continue };
        found.grant.match_name = new.clone();
        target.put(key, Some(encode(&found)));
    }
    // Skips an id, so that a reader that counts matches or branches notices a rename during its scan.
    target.store().next_id += 1;
    Ok(())
}

fn rename_branch(
    target: &mut dyn ReplayTarget,
    match_name: &MatchName,
    name: &BranchName,
    new: &BranchName,
) -> Done {
    let (found_match, found) = require_branch(target, match_name, name)?;
    if find_branch(target, found_match.id, new)?.is_some() {
        return Err(ReplayStop::named(match_name, Some(new)));
    }
    for (key, child) in branches_of(target, found_match.id)? {
        if let Some(parent) = child.parent.filter(|parent| parent.id == found.id) {
            let parent = Some(Parent { name: new.to_string(), ..parent });
            target.put(key, Some(encode(&BranchRecord { id: child.id, parent })));
        }
    }
    target.put(key::of_branch(found_match.id, name), None);
    target.put(key::of_branch(found_match.id, new), Some(encode(&found)));
    target.store().next_id += 1;
    Ok(())
}

fn delete_match(target: &mut dyn ReplayTarget, name: &MatchName) -> Done {
    let found_match = require_match(target, name, None)?;
    for (key, branch) in branches_of(target, found_match.id)? {
        remove_branch(target, key, &branch)?;
    }
    for (listed, _) in target.records(key::grants_of(found_match.id))? {
        if let Some(hash) = key::hash_after(&listed, key::ID_PREFIX) {
            target.put(key::of_grant(&hash), None);
        }
        target.put(listed, None);
    }
    for (note, _) in target.records(key::notes_of(found_match.id))? {
        target.put(note, None);
    }
    target.put(key::of_match(name), None);
    let store = target.store();
    store.matches = store.matches.saturating_sub(1);
    Ok(())
}

fn delete_branch(target: &mut dyn ReplayTarget, match_name: &MatchName, name: &BranchName) -> Done {
    let (mut found_match, found) = require_branch(target, match_name, name)?;
    remove_branch(target, key::of_branch(found_match.id, name), &found)?;
    for (key, body) in target.records(key::notes_of(found_match.id))? {
        let note: PlacedNote = record::read_body("a note", &body)?;
        if note.branch == Some(found.id) {
            target.put(key, None);
        }
    }
    found_match.branches = found_match.branches.saturating_sub(1);
    target.put(key::of_match(match_name), Some(found_match.encode()));
    Ok(())
}

fn remove_branch(
    target: &mut dyn ReplayTarget,
    key: Vec<u8>,
    branch: &BranchRecord,
) -> Result<(), BackendError> {
    let forked_at = branch.parent.as_ref().map_or(0, |parent| parent.at);
    let own = find_head(target, branch.id)?.map_or(0, |head| head.seq.saturating_sub(forked_at));
    target.put(key, None);
    target.put(key::of_head(branch.id), None);
    target.forget(branch.id)?;
    let store = target.store();
    store.entries = store.entries.saturating_sub(own);
    Ok(())
}

fn set_grant(target: &mut dyn ReplayTarget, hash: &Digest, grant: Grant) -> Done {
    let found_match = require_match(target, &grant.match_name, None)?;
    let listed: MatchGrantRecord = grant.kind.seat();
    target.put(key::of_match_grant(found_match.id, hash), Some(encode(&listed)));
    target.put(key::of_grant(hash), Some(encode(&GrantRecord { match_id: found_match.id, grant })));
    Ok(())
}

fn remove_grant(target: &mut dyn ReplayTarget, match_name: &MatchName, hash: &Digest) -> Done {
    let found_match = require_match(target, match_name, None)?;
    target.put(key::of_match_grant(found_match.id, hash), None);
    target.put(key::of_grant(hash), None);
    Ok(())
}

fn set_note(target: &mut dyn ReplayTarget, match_name: &MatchName, note: &PlacedNote) -> Done {
    let found_match = require_match(target, match_name, None)?;
    target.put(key::of_note(found_match.id, note.note.id), Some(encode(note)));
    Ok(())
}

fn remove_note(target: &mut dyn ReplayTarget, match_name: &MatchName, id: NoteId) -> Done {
    let found_match = require_match(target, match_name, None)?;
    target.put(key::of_note(found_match.id, id), None);
    Ok(())
}

fn record_module(target: &mut dyn ReplayTarget, match_name: &MatchName, module: Digest) -> Done {
    let mut found_match = require_match(target, match_name, None)?;
    if found_match.module.is_some_and(|recorded| recorded != module) {
        return Err(ReplayStop::named(match_name, None));
    }
    found_match.module = Some(module);
    target.put(key::of_match(match_name), Some(found_match.encode()));
    Ok(())
}
