//! Records: what a backend holds, as readers see it while the committer writes.

use std::ops::Range;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::found::{COUNT_MAX, find_store_record};
use crate::error::StoreError;
use crate::granting::GrantBooks;
use crate::local::backend::{Backend, StoredRecord};
use crate::local::layout::record::StoreRecord;
use crate::local::layout::{key, record};
use crate::local::scan::scan;
use crate::reader::found::{FoundBranch, Head};
use crate::snapshots::Snapshots;

/// What a store holds. Readers and the committer share it.
pub(crate) struct Records {
    pub(crate) backend: Box<dyn Backend>,
    /// Of a store on disk.
    pub(crate) snapshots: Option<Snapshots>,
    /// Held for reading by who needs the matches to stay under their names, for writing while one is renamed or deleted.
    /// Taken before `branches`.
    pub(super) matches: RwLock<()>,
    /// Held for reading by who needs the branches of matches to stay, for writing while one is renamed or deleted.
    pub(super) branches: RwLock<()>,
    /// The same for a walk whose output may be slow. Taken before `branches`, so that a thread that waits to rename or
    /// delete a branch keeps no reader waiting.
    pub(super) walks: RwLock<()>,
    /// Held for reading by who needs the grants of a match as they are at one time, for writing while one changes. Taken
    /// after `branches`.
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

    /// Waits until no thread holds the matches.
    pub(crate) fn change_matches(&self) -> RwLockWriteGuard<'_, ()> {
        self.matches.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until no thread holds the branches.
    pub(crate) fn change_branches(&self) -> [RwLockWriteGuard<'_, ()>; 2] {
        [&self.walks, &self.branches].map(|held| held.write().unwrap_or_else(PoisonError::into_inner))
    }

    /// Keeps all grants as they are.
    pub(crate) fn hold_grants(&self) -> RwLockReadGuard<'_, GrantBooks> {
        hold(&self.grants)
    }

    /// Waits until no thread holds the grants.
    pub(crate) fn change_grants(&self) -> RwLockWriteGuard<'_, GrantBooks> {
        self.grants.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads the store's own record.
    pub(crate) fn store_record(&self) -> Result<StoreRecord, StoreError> {
        let record = find_store_record(self.backend.as_ref())?;
        record.ok_or_else(|| StoreError::damaged("the store's own record is missing"))
    }

    /// Reads the records in a range of keys, a few at a time.
    pub(crate) fn scan(
        &self,
        range: Range<Vec<u8>>,
    ) -> impl Iterator<Item = Result<StoredRecord, StoreError>> {
        scan(self.backend.as_ref(), range).map(|record| Ok(record?))
    }

    /// Returns every record in a range of keys.
    pub(crate) fn scan_all(&self, range: Range<Vec<u8>>) -> Result<Vec<StoredRecord>, StoreError> {
        self.scan(range).collect()
    }

    pub(crate) fn head(&self, branch: &FoundBranch) -> Result<Head, StoreError> {
        let key = key::of_head(branch.id);
        read_head(branch, &key, self.backend.get(&key)?)
    }

    pub(crate) fn heads_of(&self, branches: &[FoundBranch]) -> Result<Vec<Head>, StoreError> {
        let keys: Vec<_> = branches.iter().map(|branch| key::of_head(branch.id)).collect();
        let values = self.backend.get_all(&keys)?;
        let read = |((branch, key), value): ((&FoundBranch, &Vec<u8>), _)| read_head(branch, key, value);
        branches.iter().zip(&keys).zip(values).map(read).collect()
    }
}

/// Waits until no thread changes what a lock is about, and keeps it as it is.
pub(super) fn hold<T>(lock: &RwLock<T>) -> RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}

fn read_head(branch: &FoundBranch, key: &[u8], value: Option<Vec<u8>>) -> Result<Head, StoreError> {
    let value = value.ok_or_else(|| StoreError::damaged("its head record is missing"))?;
    let head: Head = record::read("its head record", key, &value)?;
    if !(branch.forked_at()..=COUNT_MAX).contains(&head.seq) {
        return Err(StoreError::damaged(format!("its head cannot be at {}", head.seq)));
    }
    Ok(head)
}
