//! Backends: where records are stored, on disk or in memory.

use std::io;
use std::ops::Range;
use std::path::Path;

mod base;
pub(crate) mod disk;
mod layered;
mod layers;
pub mod memory;
mod writing;

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
    /// Returns the error of an action on a file.
    pub(crate) fn io(action: &str, path: &Path, source: io::Error) -> Self {
        Self::Io { action: format!("{action} `{}`", path.display()), source }
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
