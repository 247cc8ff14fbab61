//! Records in a backend, as readers see them while the committer writes.

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

/// The records of a store, which readers and the committer share.
pub(crate) struct Records {
    pub(crate) backend: Box<dyn Backend>,
    /// The snapshots of a store on disk; `None` in memory.
    pub(crate) snapshots: Option<Snapshots>,
    /// Readers hold this lock while they need matches to keep their names. Renaming or deleting a match takes it for
    /// writing. It is taken before `branches`.
    pub(super) matches: RwLock<()>,
    /// Readers hold this lock while they need branches to stay. Renaming or deleting a branch takes it for writing.
    pub(super) branches: RwLock<()>,
    /// Like `branches`, for a walk whose output may be slow. It is taken before `branches`, so that a thread that waits
    /// for a walk blocks no other reader.
    pub(super) walks: RwLock<()>,
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

    /// Locks the matches for a change, after all readers have released them.
    pub(crate) fn change_matches(&self) -> RwLockWriteGuard<'_, ()> {
        self.matches.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Locks walks and branches for a change, after all readers have released them.
    pub(crate) fn change_branches(&self) -> [RwLockWriteGuard<'_, ()>; 2] {
        [&self.walks, &self.branches].map(|held| held.write().unwrap_or_else(PoisonError::into_inner))
    }

    /// Keeps all grants unchanged while the guard lives.
    pub(crate) fn hold_grants(&self) -> RwLockReadGuard<'_, GrantBooks> {
        hold(&self.grants)
    }

    /// Locks the grants for a change, after all readers have released them.
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

/// Takes a lock for reading, after a writer has released it.
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
