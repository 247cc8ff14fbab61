//! Replays the operations of commits into records (ST-17).

use turnfold_core::Digest;

use crate::chain;
use crate::entry::{Seq, encode};
use crate::grant::Grant;
use crate::local::backend::{BackendError, StoredRecord};
use crate::local::journal::commit::{EntryHead, Op, Point};
use crate::local::journal::{commit, damaged};
use crate::local::record::{
    BranchRecord, GrantRecord, IdempotencyRecord, MatchGrantRecord, MatchRecord, StoreRecord,
};
use crate::local::{key, record};
use crate::names::{BranchName, MatchName};
use crate::note::{NoteId, PlacedNote};
use crate::reader::found::{Head, Parent};

/// The records that a replay reads and writes.
pub(crate) trait ReplayTarget {
    fn body(&self, key: &[u8]) -> Result<Option<Vec<u8>>, BackendError>;

    fn records(&self, range: std::ops::Range<Vec<u8>>) -> Result<Vec<StoredRecord>, BackendError>;

    /// Writes a record of one of these tables; `None` removes it.
    fn put(&mut self, key: Vec<u8>, body: Option<Vec<u8>>);

    fn append(&mut self, branch: u64, added: &Added<'_, '_>);

    fn put_key(&mut self, branch: u64, key: &str, entries: IdempotencyRecord);

    fn forget(&mut self, branch: u64) -> Result<(), BackendError>;

    fn store(&mut self) -> &mut StoreRecord;
}

/// Entries that follow the head `before`; `after` is the head behind them.
pub(crate) struct Added<'a, 'b> {
    pub(crate) before: Head,
    pub(crate) after: Head,
    pub(crate) entries: &'b [&'a [u8]],
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
    let store = target.store();
    (store.commits, store.digest) = (commit.number, commit.digest);
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
            create_branch(target, id, (&match_name, &name), (parent, at, link))
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

struct Match {
    key: Vec<u8>,
    id: u64,
    branches: u64,
    genesis: Vec<u8>,
    module: Option<Digest>,
}

fn find_match(target: &dyn ReplayTarget, name: &MatchName) -> Result<Option<Match>, BackendError> {
    let key = key::of_match(name);
    let Some(body) = target.body(&key)? else { return Ok(None) };
    let MatchRecord { id, branches, genesis, module } = MatchRecord::read("a match record", &body)?;
    let genesis = genesis.to_vec();
    Ok(Some(Match { key, id, branches, genesis, module }))
}

fn put_match(target: &mut dyn ReplayTarget, found: &Match, key: Vec<u8>, branches: u64) {
    let record = MatchRecord { id: found.id, branches, genesis: &found.genesis, module: found.module };
    target.put(key, Some(record.encode()));
}

fn find_branch(
    target: &dyn ReplayTarget,
    match_id: u64,
    name: &BranchName,
) -> Result<Option<BranchRecord>, BackendError> {
    let body = target.body(&key::of_branch(match_id, name))?;
    body.map(|body| record::read_body("a branch record", &body)).transpose()
}

fn branches_of(
    target: &dyn ReplayTarget,
    match_id: u64,
) -> Result<Vec<(Vec<u8>, BranchRecord)>, BackendError> {
    let read = |(key, body): StoredRecord| Ok((key, record::read_body("a branch record", &body)?));
    target.records(key::branches_of(match_id))?.into_iter().map(read).collect()
}

fn head_of(target: &dyn ReplayTarget, branch: u64) -> Result<Option<Head>, BackendError> {
    let body = target.body(&key::of_head(branch))?;
    body.map(|body| record::read_body("a head", &body)).transpose()
}

fn put_head(target: &mut dyn ReplayTarget, branch: u64, head: Head) {
    target.put(key::of_head(branch), Some(encode(&head)));
}

fn the_match(
    target: &dyn ReplayTarget,
    name: &MatchName,
    branch: Option<&BranchName>,
) -> Result<Match, ReplayStop> {
    find_match(target, name)?.ok_or_else(|| ReplayStop::named(name, branch))
}

fn the_branch(
    target: &dyn ReplayTarget,
    match_name: &MatchName,
    name: &BranchName,
) -> Result<(Match, BranchRecord), ReplayStop> {
    let found = the_match(target, match_name, Some(name))?;
    let branch =
        find_branch(target, found.id, name)?.ok_or_else(|| ReplayStop::named(match_name, Some(name)))?;
    Ok((found, branch))
}

fn create_match(target: &mut dyn ReplayTarget, id: u64, name: &MatchName, genesis: &[u8]) -> Done {
    let key = key::of_match(name);
    if target.body(&key)?.is_some() {
        return Err(ReplayStop::named(name, None));
    }
    target.put(key, Some(MatchRecord { id, branches: 1, genesis, module: None }.encode()));
    let main = BranchRecord { id: id + 1, parent: None };
    target.put(key::of_branch(id, &BranchName::main()), Some(encode(&main)));
    put_head(target, main.id, Head { seq: 0, link: chain::genesis_link(genesis) });
    let store = target.store();
    store.matches += 1;
    store.next_id = store.next_id.max(id + 2);
    Ok(())
}

fn create_branch(
    target: &mut dyn ReplayTarget,
    id: u64,
    (match_name, name): (&MatchName, &BranchName),
    (parent, at, link): (BranchName, Seq, Digest),
) -> Done {
    let found_match = the_match(target, match_name, Some(name))?;
    let found = find_branch(target, found_match.id, &parent)?
        .ok_or_else(|| ReplayStop::named(match_name, Some(name)))?;
    // The parent must have the entry, because a link behind a gap is not proven.
    let has_entry = head_of(target, found.id)?.is_some_and(|head| head.seq >= at);
    if !has_entry || find_branch(target, found_match.id, name)?.is_some() {
        return Err(ReplayStop::named(match_name, Some(name)));
    }
    let parent = Some(Parent { name: parent.into(), id: found.id, at, link });
    target.put(key::of_branch(found_match.id, name), Some(encode(&BranchRecord { id, parent })));
    put_head(target, id, Head { seq: at, link });
    put_match(target, &found_match, found_match.key.clone(), found_match.branches + 1);
    let store = target.store();
    store.next_id = store.next_id.max(id + 1);
    Ok(())
}

fn append(target: &mut dyn ReplayTarget, branch: u64, link: Digest, entries: &[&[u8]]) -> Done {
    let first = entries.first().and_then(|entry| EntryHead::read(entry));
    let Some(EntryHead { seq: first, .. }) = first else {
        return Err(ReplayStop::Misfit(Misfit::Unreadable));
    };
    let last = first.saturating_add(entries.len() as u64 - 1);
    let before = head_of(target, branch)?;
    let Some(before) = before.filter(|before| before.seq + 1 == first) else {
        let expected = before.map(|before| before.seq + 1);
        return Err(ReplayStop::Misfit(Misfit::Entries { branch, expected, first, last }));
    };
    let after = Head { seq: last, link };
    put_head(target, branch, after);
    target.append(branch, &Added { before, after, entries });
    let mut keyed: Option<(&str, IdempotencyRecord)> = None;
    for entry in entries {
        let Some(EntryHead { seq, idempotency_key, .. }) = EntryHead::read(entry) else {
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
    let found_match = the_match(target, name, None)?;
    if target.body(&key)?.is_some() {
        return Err(ReplayStop::named(new, None));
    }
    target.put(found_match.key.clone(), None);
    put_match(target, &found_match, key, found_match.branches);
    for (listed, _) in target.records(key::grants_of(found_match.id))? {
        let Some(hash) = key::hash_after(&listed, key::ID_PREFIX) else { continue };
        let key = key::of_grant(&hash);
        let Some(body) = target.body(&key)? else { continue };
        let GrantRecord { match_id, grant } = record::read_body("a grant", &body)?;
        let grant = Grant { match_name: new.clone(), ..grant };
        target.put(key, Some(encode(&GrantRecord { match_id, grant })));
    }
    use_up_an_id(target);
    Ok(())
}

fn rename_branch(
    target: &mut dyn ReplayTarget,
    match_name: &MatchName,
    name: &BranchName,
    new: &BranchName,
) -> Done {
    let (found_match, found) = the_branch(target, match_name, name)?;
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
    use_up_an_id(target);
    Ok(())
}

/// Skips an id, so that a reader that counts matches or branches notices a rename during its scan.
fn use_up_an_id(target: &mut dyn ReplayTarget) {
    target.store().next_id += 1;
}

fn delete_match(target: &mut dyn ReplayTarget, name: &MatchName) -> Done {
    let found_match = the_match(target, name, None)?;
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
    target.put(found_match.key, None);
    let store = target.store();
    store.matches = store.matches.saturating_sub(1);
    Ok(())
}

fn delete_branch(target: &mut dyn ReplayTarget, match_name: &MatchName, name: &BranchName) -> Done {
    let (found_match, found) = the_branch(target, match_name, name)?;
    remove_branch(target, key::of_branch(found_match.id, name), &found)?;
    for (key, body) in target.records(key::notes_of(found_match.id))? {
        let note: PlacedNote = record::read_body("a note", &body)?;
        if note.branch == Some(found.id) {
            target.put(key, None);
        }
    }
    let key = found_match.key.clone();
    put_match(target, &found_match, key, found_match.branches.saturating_sub(1));
    Ok(())
}

fn remove_branch(
    target: &mut dyn ReplayTarget,
    key: Vec<u8>,
    branch: &BranchRecord,
) -> Result<(), BackendError> {
    let forked_at = branch.parent.as_ref().map_or(0, |parent| parent.at);
    let own = head_of(target, branch.id)?.map_or(0, |head| head.seq.saturating_sub(forked_at));
    target.put(key, None);
    target.put(key::of_head(branch.id), None);
    target.forget(branch.id)?;
    let store = target.store();
    store.entries = store.entries.saturating_sub(own);
    Ok(())
}

fn set_grant(target: &mut dyn ReplayTarget, hash: &Digest, grant: Grant) -> Done {
    let found_match = the_match(target, &grant.match_name, None)?;
    let listed = MatchGrantRecord { seat: grant.kind.seat() };
    target.put(key::of_match_grant(found_match.id, hash), Some(encode(&listed)));
    target.put(key::of_grant(hash), Some(encode(&GrantRecord { match_id: found_match.id, grant })));
    Ok(())
}

fn remove_grant(target: &mut dyn ReplayTarget, match_name: &MatchName, hash: &Digest) -> Done {
    let found_match = the_match(target, match_name, None)?;
    target.put(key::of_match_grant(found_match.id, hash), None);
    target.put(key::of_grant(hash), None);
    Ok(())
}

fn set_note(target: &mut dyn ReplayTarget, match_name: &MatchName, note: &PlacedNote) -> Done {
    let found_match = the_match(target, match_name, None)?;
    target.put(key::of_note(found_match.id, note.note.id), Some(encode(note)));
    Ok(())
}

fn remove_note(target: &mut dyn ReplayTarget, match_name: &MatchName, id: NoteId) -> Done {
    let found_match = the_match(target, match_name, None)?;
    target.put(key::of_note(found_match.id, id), None);
    Ok(())
}

fn record_module(target: &mut dyn ReplayTarget, match_name: &MatchName, module: Digest) -> Done {
    let found_match = the_match(target, match_name, None)?;
    if found_match.module.is_some_and(|recorded| recorded != module) {
        return Err(ReplayStop::named(match_name, None));
    }
    let key = found_match.key.clone();
    let branches = found_match.branches;
    put_match(target, &Match { module: Some(module), ..found_match }, key, branches);
    Ok(())
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
