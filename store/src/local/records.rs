//! Records in a backend, as readers see them while the committer writes.

use std::ops::Range;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use turnfold_core::{Digest, Seat};

use crate::engine::{EngineReader as _, until_error};
use crate::error::{Placed, StoreError};
use crate::grant::{Grant, GrantId};
use crate::granting::{GrantBooks, MatchGrants};
use crate::local::backend::{Backend, StoredRecord, scan};
use crate::local::record::{
    BranchRecord, GrantRecord, IdempotencyRecord, MatchGrantRecord, MatchRecord, StoreRecord,
};
use crate::local::{key, record};
use crate::names::{BranchName, IdempotencyKey, MatchName};
use crate::note::PlacedNote;
use crate::reader::branch::{Branch, EngineMatchId, FoundBranch, FoundMatch, Head};
use crate::snapshots::Snapshots;

pub(crate) struct Records {
    pub(crate) backend: Box<dyn Backend>,
    /// The snapshots of a store on disk; `None` in memory.
    pub(crate) snapshots: Option<Snapshots>,
    /// Readers hold this lock while they need matches to keep their names. Renaming or deleting a match takes it for
    /// writing. It is taken before `branches`.
    pub(crate) matches: RwLock<()>,
    /// Readers hold this lock while they need branches to stay. Renaming or deleting a branch takes it for writing.
    pub(crate) branches: RwLock<()>,
    /// Like `branches`, for a walk whose output may be slow. It is taken before `branches`, so that a thread that waits
    /// for a walk blocks no other reader.
    pub(crate) walks: RwLock<()>,
    /// Readers hold this lock while they need the grants of a match as of one moment. Changing a grant takes it for
    /// writing. It is taken after `branches`.
    grants: RwLock<GrantBooks>,
}

impl Records {
    pub(crate) fn new(backend: Box<dyn Backend>, snapshots: Option<Snapshots>) -> Self {
        Self {
            backend,
            snapshots,
            matches: RwLock::default(),
            branches: RwLock::default(),
            walks: RwLock::default(),
            grants: RwLock::default(),
        }
    }

    /// Returns the records of the index, if the store was opened without it: an audit and statistics are of the index
    /// (ST-23).
    pub(crate) fn indexed(&self) -> Result<Option<Self>, StoreError> {
        let index = self.backend.skipped_index()?;
        Ok(index.map(|index| Self::new(index, None)))
    }

    pub(crate) fn change_matches(&self) -> RwLockWriteGuard<'_, ()> {
        self.matches.write().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn change_branches(&self) -> [RwLockWriteGuard<'_, ()>; 2] {
        [&self.walks, &self.branches].map(|held| held.write().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn hold_grants(&self) -> RwLockReadGuard<'_, GrantBooks> {
        hold(&self.grants)
    }

    pub(crate) fn change_grants(&self) -> RwLockWriteGuard<'_, GrantBooks> {
        self.grants.write().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn store_record(&self) -> Result<StoreRecord, StoreError> {
        match find_store_record(self.backend.as_ref())? {
            Some(record) => Ok(record),
            None => Err(StoreError::damaged("the store's own record is missing")),
        }
    }

    pub(crate) fn scan(
        &self,
        range: Range<Vec<u8>>,
    ) -> impl Iterator<Item = Result<StoredRecord, StoreError>> {
        scan(self.backend.as_ref(), range).map(|record| Ok(record?))
    }

    pub(crate) fn scan_all(&self, range: Range<Vec<u8>>) -> Result<Vec<StoredRecord>, StoreError> {
        self.scan(range).collect()
    }

    pub(crate) fn head(&self, branch: &FoundBranch) -> Result<Head, StoreError> {
        read_head(branch, self.backend.get(&key::of_head(branch.id))?)
    }

    pub(crate) fn heads_of(&self, branches: &[FoundBranch]) -> Result<Vec<Head>, StoreError> {
        let mut keys = Vec::with_capacity(branches.len());
        for branch in branches {
            keys.push(key::of_head(branch.id));
        }
        let mut heads = Vec::with_capacity(branches.len());
        for (branch, value) in branches.iter().zip(self.backend.get_all(&keys)?) {
            heads.push(read_head(branch, value)?);
        }
        Ok(heads)
    }

    pub(crate) fn find_branch(
        &self,
        found_match: &FoundMatch,
        name: &BranchName,
    ) -> Result<FoundBranch, StoreError> {
        let key = key::of_branch(found_match.number(), name);
        if let Some(value) = self.backend.get(&key).within(&found_match.name, Some(name))? {
            let read = read_branch(found_match, name.clone(), &key, &value);
            return read.within(&found_match.name, Some(name));
        }
        if name.is_main() {
            let error = StoreError::damaged("its branch record is missing");
            return Err(error.within(&found_match.name, Some(name)));
        }
        // A match has few branches, so all their records are checked. A lost record is damage, not a branch that does
        // not exist.
        let (_, stored) = self.stored_branches(&found_match.name)?;
        for stored in &stored {
            stored.require_in_place().within(&found_match.name, None)?;
        }
        Err(StoreError::NoSuchBranch { match_name: found_match.name.clone(), branch: name.clone() })
    }

    pub(crate) fn branch_named(
        &self,
        match_name: &MatchName,
        name: &BranchName,
    ) -> Result<Branch, StoreError> {
        let found_match = self.found_match(match_name)?;
        let found = self.find_branch(&found_match, name)?;
        self.branch(&found_match, found)
    }

    pub(crate) fn branch(&self, found_match: &FoundMatch, found: FoundBranch) -> Result<Branch, StoreError> {
        let head = self.head(&found).within(&found_match.name, Some(&found.name))?;
        Ok(Branch { found_match: found_match.clone(), found, head })
    }

    pub(crate) fn readable_matches(&self) -> impl Iterator<Item = FoundMatch> {
        let records = self.scan(key::all_matches()).flatten();
        records.filter_map(|(key, value)| read_match(match_name_in(&key).ok()?, &key, &value).ok())
    }

    pub(crate) fn branches_of(&self, name: &MatchName) -> Result<(FoundMatch, Vec<FoundBranch>), StoreError> {
        let (found_match, stored) = self.stored_branches(name)?;
        let mut branches = Vec::with_capacity(stored.len());
        for stored in stored {
            let read = stored.read(&found_match);
            branches.push(read.within(name, Some(&stored.name))?);
        }
        Ok((found_match, branches))
    }

    /// Returns the next id; `None` if the record about the store cannot be read.
    fn next_id(&self) -> Option<u64> {
        Some(self.store_record().ok()?.next_id)
    }

    /// Returns a match and the unread records of its branches, as many as the match counts.
    pub(crate) fn stored_branches(
        &self,
        name: &MatchName,
    ) -> Result<(FoundMatch, Vec<StoredBranch>), StoreError> {
        loop {
            let next_id_before = self.next_id();
            let before = self.found_match(name)?;
            let records = self.scan_all(key::branches_of(before.number()))?;
            let next_id_after = self.next_id();
            let after = self.found_match(name)?;
            if records.len() as u64 == before.branches {
                let mut stored = Vec::with_capacity(records.len());
                for record in records {
                    stored.push(StoredBranch::of(record).within(name, None)?);
                }
                return Ok((after, stored));
            }
            // If something has changed, a writer may have caused it.
            let is_same = after.number() == before.number() && after.branches == before.branches;
            if is_same && next_id_after == next_id_before {
                let expected = before.branches;
                let reason =
                    format!("it should have {expected} branches, but the store holds another number");
                return Err(StoreError::damaged(reason).within(name, None));
            }
        }
    }

    pub(crate) fn readable_branches(
        &self,
        found_match: &FoundMatch,
    ) -> impl Iterator<Item = Result<StoredBranch, StoreError>> {
        self.scan(key::branches_of(found_match.number())).map(|record| StoredBranch::of(record?))
    }

    pub(crate) fn keyed(
        &self,
        branch_id: u64,
        idempotency_key: &IdempotencyKey,
    ) -> Result<Option<IdempotencyRecord>, StoreError> {
        let key = key::of_idempotency(branch_id, idempotency_key);
        match self.backend.get(&key)? {
            Some(value) => record::read("an idempotency key", &key, &value).map(Some),
            None => Ok(None),
        }
    }

    pub(crate) fn count_matches(&self) -> Result<(), StoreError> {
        loop {
            let before = self.store_record()?;
            let mut count = 0;
            for record in self.scan(key::all_matches()) {
                let (key, value) = record?;
                record::checked("a match record", &key, &value)?;
                count += 1;
            }
            let after = self.store_record()?;
            let expected = before.matches;
            if count == expected {
                return Ok(());
            }
            // If something has changed, a writer may have caused it.
            if after.matches == expected && after.next_id == before.next_id {
                let reason = format!("it should hold {expected} matches, but holds another number");
                return Err(StoreError::damaged(reason));
            }
        }
    }

    /// Reads the records of matches, sorted by name, after one of them if `after` is given. Without `after`, the last
    /// item is an error if the number of matches is wrong.
    pub(crate) fn found_matches<'a>(
        &'a self,
        after: Option<&MatchName>,
    ) -> Result<impl Iterator<Item = Result<FoundMatch, StoreError>> + use<'a>, StoreError> {
        let expected = self.store_record()?;
        let mut range = key::all_matches();
        if let Some(after) = after {
            range.start = [key::of_match(after).as_slice(), &[0]].concat();
        }
        // A match with the next id or a higher one is newer than the number of matches.
        let is_counted = after.is_none();
        let mut records = self.scan(range);
        let mut count = 0;
        Ok(until_error(move || {
            let Some(record) = records.next() else {
                if !is_counted || count == expected.matches {
                    return None;
                }
                // A match may have been renamed or deleted during the scan. The new count is then right.
                return self.count_matches().err().map(Err);
            };
            let read = record.and_then(|(key, value)| read_match(match_name_in(&key)?, &key, &value));
            if let Ok(found) = &read {
                count += u64::from(found.number() < expected.next_id);
            }
            Some(read)
        }))
    }

    pub(crate) fn grants_in<'a>(
        &self,
        books: &'a mut GrantBooks,
        found_match: &FoundMatch,
    ) -> Result<&'a mut MatchGrants, StoreError> {
        books.of(found_match.number(), || Ok(self.grants(found_match)?.into_iter().collect()))
    }

    pub(crate) fn of_grants<T>(
        &self,
        match_name: &MatchName,
        ask: impl FnOnce(&MatchGrants) -> T,
    ) -> Result<T, StoreError> {
        {
            let books = self.hold_grants();
            if let Some(grants) = books.known(self.found_match(match_name)?.number()) {
                return Ok(ask(grants));
            }
        }
        let mut books = self.change_grants();
        Ok(ask(self.grants_in(&mut books, &self.found_match(match_name)?)?))
    }

    pub(crate) fn grant_record(&self, hash: &Digest) -> Result<Option<GrantRecord>, StoreError> {
        let key = key::of_grant(hash);
        match self.backend.get(&key)? {
            Some(value) => read_grant(hash, &key, &value).map(Some),
            None => Ok(None),
        }
    }

    pub(crate) fn grants(&self, found_match: &FoundMatch) -> Result<Vec<(Digest, Grant)>, StoreError> {
        let mut grants = Vec::new();
        for listed in self.listed_grants(found_match.number()) {
            let (hash, _) = listed.within(&found_match.name, None)?;
            grants.push((hash, self.grant(found_match, &hash)?));
        }
        Ok(grants)
    }

    pub(crate) fn grant(&self, found_match: &FoundMatch, hash: &Digest) -> Result<Grant, StoreError> {
        let id = GrantId::of(hash);
        let reason = match self.grant_record(hash).within(&found_match.name, None)? {
            None => format!("the grant `{id}` is missing"),
            Some(GrantRecord { match_id, grant })
                if match_id == found_match.number() && grant.match_name == found_match.name =>
            {
                return Ok(grant);
            }
            Some(_) => format!("the grant `{id}` is one of another match"),
        };
        Err(StoreError::damaged(reason).within(&found_match.name, None))
    }

    pub(crate) fn listed_grants(
        &self,
        match_id: u64,
    ) -> impl Iterator<Item = Result<(Digest, Option<Seat>), StoreError>> {
        self.scan(key::grants_of(match_id)).map(|record| {
            let (key, value) = record?;
            let Some(hash) = key::hash_after(&key, key::ID_PREFIX) else {
                return Err(StoreError::damaged("the list of its grants has another record"));
            };
            let what = format!("the record that lists the grant `{}`", GrantId::of(&hash));
            let seat: MatchGrantRecord = record::read(&what, &key, &value)?;
            Ok((hash, seat))
        })
    }

    pub(crate) fn placed_notes(&self, found_match: &FoundMatch) -> Result<Vec<PlacedNote>, StoreError> {
        self.readable_notes(found_match).collect()
    }

    pub(crate) fn readable_notes(
        &self,
        found_match: &FoundMatch,
    ) -> impl Iterator<Item = Result<PlacedNote, StoreError>> {
        self.scan(key::notes_of(found_match.number())).map(|found| {
            let (key, value) = found.within(&found_match.name, None)?;
            record::read("a note", &key, &value).within(&found_match.name, None)
        })
    }
}

pub(crate) fn hold<T>(lock: &RwLock<T>) -> RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}

fn read_head(branch: &FoundBranch, value: Option<Vec<u8>>) -> Result<Head, StoreError> {
    let Some(value) = value else { return Err(StoreError::damaged("its head record is missing")) };
    let head: Head = record::read("its head record", &key::of_head(branch.id), &value)?;
    if !(branch.forked_at()..=COUNT_MAX).contains(&head.seq) {
        return Err(StoreError::damaged(format!("its head cannot be at {}", head.seq)));
    }
    Ok(head)
}

/// The most that a store can count to. A record that claims more is damaged. The limit also keeps additions from
/// overflowing.
pub(crate) const COUNT_MAX: u64 = u64::MAX / 2;

pub(crate) fn find_store_record(backend: &dyn Backend) -> Result<Option<StoreRecord>, StoreError> {
    let Some(value) = backend.get(key::STORE)? else { return Ok(None) };
    let record: StoreRecord = record::read("the store's own record", key::STORE, &value)?;
    if record.next_id > COUNT_MAX || record.matches > COUNT_MAX {
        return Err(StoreError::damaged("the store's own record counts more than there can be"));
    }
    Ok(Some(record))
}

pub(crate) fn read_match(name: MatchName, key: &[u8], value: &[u8]) -> Result<FoundMatch, StoreError> {
    let what = "its match record";
    let body = record::checked(what, key, value).within(&name, None)?;
    let MatchRecord { id, branches, genesis, module } = MatchRecord::read(what, body).within(&name, None)?;
    if branches > COUNT_MAX {
        return Err(StoreError::damaged("it has too many branches").within(&name, None));
    }
    Ok(FoundMatch { name, id: EngineMatchId(id.into()), branches, genesis, module })
}

pub(crate) fn match_name_in(key: &[u8]) -> Result<MatchName, StoreError> {
    match key::name_after(key, key::MATCH_PREFIX) {
        Some(name) => Ok(name),
        None => Err(StoreError::damaged("a match record has no proper name")),
    }
}

pub(crate) struct StoredBranch {
    pub(crate) name: BranchName,
    key: Vec<u8>,
    value: Vec<u8>,
}

impl StoredBranch {
    pub(crate) fn of((key, value): StoredRecord) -> Result<Self, StoreError> {
        match key::name_after(&key, key::ID_PREFIX) {
            Some(name) => Ok(Self { name, key, value }),
            None => Err(StoreError::damaged("a branch record has no proper name")),
        }
    }

    pub(crate) fn require_in_place(&self) -> Result<(), StoreError> {
        record::checked("a branch record", &self.key, &self.value).map(drop)
    }

    pub(crate) fn read(&self, found_match: &FoundMatch) -> Result<FoundBranch, StoreError> {
        read_branch(found_match, self.name.clone(), &self.key, &self.value)
    }
}

pub(crate) fn read_branch(
    found_match: &FoundMatch,
    name: BranchName,
    key: &[u8],
    value: &[u8],
) -> Result<FoundBranch, StoreError> {
    let BranchRecord { id, parent } = record::read("its branch record", key, value)?;
    if parent.is_none() != name.is_main() {
        return Err(StoreError::damaged("its branch record has no parent, or `main` has one"));
    }
    let Some(parent) = parent else {
        return Ok(FoundBranch { name, id, parent, before: found_match.link() });
    };
    if parent.id >= id || parent.at > COUNT_MAX {
        return Err(StoreError::damaged("its branch record names a parent that cannot be"));
    }
    let before = parent.link;
    Ok(FoundBranch { name, id, parent: Some(parent), before })
}

impl FoundMatch {
    pub(crate) fn number(&self) -> u64 {
        // Ids count up from 1: one for each match, branch or new name.
        u64::try_from(self.id.0).unwrap_or(u64::MAX)
    }
}

pub(crate) fn read_grant(hash: &Digest, key: &[u8], value: &[u8]) -> Result<GrantRecord, StoreError> {
    record::read(&format!("the grant `{}`", GrantId::of(hash)), key, value)
}
