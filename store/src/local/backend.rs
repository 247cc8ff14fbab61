//! Backends: where records are stored, on disk or in memory.

use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::engine::until_error;

/// A record's key and value.
pub type StoredRecord = (Vec<u8>, Vec<u8>);

/// A change of one record: a new value, or its removal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordChange {
    /// The record's key.
    pub key: Vec<u8>,
    /// Its new value; `None` removes the record.
    pub value: Option<Vec<u8>>,
}

/// Why a backend failed.
#[derive(Debug, thiserror::Error)]
pub enum BackendError {
    /// Stored data cannot be read.
    #[error("{0}")]
    Damaged(String),
    /// Reading or writing failed.
    #[error("cannot {action}: {source}")]
    Io {
        /// The failed action, which completes "cannot …".
        action: String,
        /// The error of the operating system.
        source: io::Error,
    },
    /// A sync failed, so the written data may or may not be on disk.
    #[error("cannot sync: {source}")]
    Unsynced {
        /// The error of the operating system.
        source: io::Error,
    },
}

impl BackendError {
    pub(crate) fn on<T>(path: &Path, action: &str, done: io::Result<T>) -> Result<T, Self> {
        done.map_err(|source| Self::Io { action: format!("{action} `{}`", path.display()), source })
    }

    pub(crate) fn on_sync(done: io::Result<()>) -> Result<(), Self> {
        done.map_err(|source| Self::Unsynced { source })
    }
}

/// Ordered records that are written in atomic batches.
///
/// There is one writer, the committer. Readers may read while it writes.
pub trait Backend: Send + Sync {
    /// Returns a record's value; `None` if there is no such record.
    ///
    /// # Errors
    /// Returns [`BackendError`] if the record cannot be read.
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, BackendError>;

    /// Returns the values of records, in the order of `keys`, as of one moment.
    ///
    /// # Errors
    /// Returns [`BackendError`] if one of them cannot be read.
    fn get_all(&self, keys: &[Vec<u8>]) -> Result<Vec<Option<Vec<u8>>>, BackendError> {
        keys.iter().map(|key| self.get(key)).collect()
    }

    /// Returns the first records in a range of keys, at most `limit`.
    ///
    /// # Errors
    /// Returns [`BackendError`] if they cannot be read.
    fn scan(&self, range: &Range<Vec<u8>>, limit: usize) -> Result<Vec<StoredRecord>, BackendError>;

    /// Returns the last record in a range of keys.
    ///
    /// # Errors
    /// Returns [`BackendError`] if it cannot be read.
    fn last(&self, range: &Range<Vec<u8>>) -> Result<Option<StoredRecord>, BackendError>;

    /// Returns `true` if every value that this backend returns is proven to be what was written, so that its check need
    /// not be computed a second time.
    fn is_proven(&self) -> bool {
        false
    }

    /// Writes all changes or none. On disk they are durable.
    ///
    /// # Errors
    /// Returns [`BackendError`], after which the caller must not write any more. A backend opened for reading always
    /// fails.
    fn write(&self, _changes: &[RecordChange]) -> Result<(), BackendError> {
        let source = io::Error::new(io::ErrorKind::ReadOnlyFilesystem, "it was opened for reading only");
        Err(BackendError::Io { action: "write to the store".to_owned(), source })
    }

    /// Makes the commit whose body is `body` durable, then makes its changes visible.
    ///
    /// # Errors
    /// Returns [`BackendError`], after which the caller must not write any more.
    fn commit(&self, _body: Vec<u8>, changes: Vec<RecordChange>) -> Result<(), BackendError> {
        self.write(&changes)
    }

    /// Compares the index with the journal and returns the differences; none if records are stored only once.
    ///
    /// # Errors
    /// Returns [`BackendError`] if something cannot be read for another reason than damage.
    fn compare(&self) -> Result<Vec<String>, BackendError> {
        Ok(Vec::new())
    }

    /// Returns the folder of the journal that the records are made from; `None` in memory.
    fn journal(&self) -> Option<&Path> {
        None
    }

    /// Opens the index, if these records were read without it although there is one (ST-23).
    ///
    /// # Errors
    /// Returns [`BackendError`] if something cannot be read, or the index has commits that the journal lacks.
    fn skipped_index(&self) -> Result<Option<Box<dyn Backend>>, BackendError> {
        Ok(None)
    }

    /// Closes the files.
    ///
    /// # Errors
    /// Returns [`BackendError`] if closing is incomplete. Acknowledged commits are durable all the same.
    fn close(self: Box<Self>) -> Result<(), BackendError> {
        Ok(())
    }
}

/// Records in memory. Clones share them, so a test can inspect and change the records of a store.
#[derive(Clone, Debug, Default)]
pub struct MemoryBackend {
    records: Arc<Mutex<BTreeMap<Vec<u8>, Vec<u8>>>>,
}

#[cfg(feature = "testing")]
impl MemoryBackend {
    /// Returns every record, sorted by key.
    #[must_use]
    pub fn records(&self) -> Vec<StoredRecord> {
        self.lock().clone().into_iter().collect()
    }

    /// Returns an independent copy of all records.
    #[must_use]
    pub fn copy(&self) -> Self {
        Self { records: Arc::new(Mutex::new(self.lock().clone())) }
    }
}

impl MemoryBackend {
    /// Creates a backend without records.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Writes or removes a record without the store's knowledge.
    pub fn tamper(&self, key: &[u8], value: Option<Vec<u8>>) {
        let mut records = self.lock();
        match value {
            Some(value) => records.insert(key.to_vec(), value),
            None => records.remove(key),
        };
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<Vec<u8>, Vec<u8>>> {
        // A poisoned lock is safe, because every change of the records is complete before anything can panic.
        self.records.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Backend for MemoryBackend {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, BackendError> {
        Ok(self.lock().get(key).cloned())
    }

    fn get_all(&self, keys: &[Vec<u8>]) -> Result<Vec<Option<Vec<u8>>>, BackendError> {
        let records = self.lock();
        Ok(keys.iter().map(|key| records.get(key).cloned()).collect())
    }

    fn scan(&self, range: &Range<Vec<u8>>, limit: usize) -> Result<Vec<StoredRecord>, BackendError> {
        let mut found = Vec::new();
        // A map panics when the end of a range is before its start.
        if range.start < range.end {
            for (key, value) in self.lock().range(range.clone()).take(limit) {
                found.push((key.clone(), value.clone()));
            }
        }
        Ok(found)
    }

    fn last(&self, range: &Range<Vec<u8>>) -> Result<Option<StoredRecord>, BackendError> {
        if range.start >= range.end {
            return Ok(None);
        }
        match self.lock().range(range.clone()).next_back() {
            Some((key, value)) => Ok(Some((key.clone(), value.clone()))),
            None => Ok(None),
        }
    }

    fn write(&self, changes: &[RecordChange]) -> Result<(), BackendError> {
        let mut records = self.lock();
        for RecordChange { key, value } in changes {
            match value {
                Some(value) => records.insert(key.clone(), value.clone()),
                None => records.remove(key),
            };
        }
        Ok(())
    }
}

const SCAN_MAX: usize = 256;

pub(crate) fn scan(
    backend: &dyn Backend,
    range: Range<Vec<u8>>,
) -> impl Iterator<Item = Result<StoredRecord, BackendError>> {
    let mut rest = range;
    let mut loaded = Vec::new().into_iter();
    let mut is_last = false;
    until_error(move || {
        if loaded.len() == 0 && !is_last {
            let found = match backend.scan(&rest, SCAN_MAX) {
                Ok(found) => found,
                Err(error) => return Some(Err(error)),
            };
            match found.last().filter(|_| found.len() == SCAN_MAX) {
                Some((last, _)) => rest.start = [last.as_slice(), &[0]].concat(),
                None => is_last = true,
            }
            loaded = found.into_iter();
        }
        loaded.next().map(Ok)
    })
}
