//! Backends: where records lie. One keeps them on disk, one in memory.

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

/// A record to be written, or removed when it has no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordChange {
    /// The record's key.
    pub key: Vec<u8>,
    /// Its new value.
    pub value: Option<Vec<u8>>,
}

/// Why a backend did not answer.
#[derive(Debug, thiserror::Error)]
pub enum BackendError {
    /// What is stored cannot be read.
    #[error("{0}")]
    Damaged(String),
    /// Reading or writing failed.
    #[error("cannot {action}: {source}")]
    Io {
        /// What was being done.
        action: String,
        /// What the operating system reports.
        source: io::Error,
    },
    /// What was written may or may not be on disk.
    #[error("cannot sync: {source}")]
    Unsynced {
        /// What the operating system reports.
        source: io::Error,
    },
}

impl BackendError {
    /// Reports what failed with a file.
    pub(crate) fn io(action: &str, path: &Path, source: io::Error) -> Self {
        Self::Io { action: format!("{action} `{}`", path.display()), source }
    }
}

/// Ordered records that are written in atomic batches.
///
/// There is one writer, the committer; readers read at the same time.
pub trait Backend: Send + Sync {
    /// Returns a record's value.
    ///
    /// # Errors
    /// [`BackendError`] when it cannot be read.
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, BackendError>;

    /// Returns the values of records as they are at one moment.
    ///
    /// # Errors
    /// [`BackendError`] when one cannot be read.
    fn get_all(&self, keys: &[Vec<u8>]) -> Result<Vec<Option<Vec<u8>>>, BackendError> {
        keys.iter().map(|key| self.get(key)).collect()
    }

    /// Returns the first records in a range of keys, at most `limit`.
    ///
    /// # Errors
    /// [`BackendError`] when they cannot be read.
    fn scan(&self, range: &Range<Vec<u8>>, limit: usize) -> Result<Vec<StoredRecord>, BackendError>;

    /// Returns the last record in a range of keys.
    ///
    /// # Errors
    /// [`BackendError`] when it cannot be read.
    fn last(&self, range: &Range<Vec<u8>>) -> Result<Option<StoredRecord>, BackendError>;

    /// Makes changes all together or not at all, and durable as far as there is something to be durable on.
    ///
    /// # Errors
    /// [`BackendError`] after which nothing more may be written; always, where records are only read.
    fn write(&self, _changes: &[RecordChange]) -> Result<(), BackendError> {
        let source = io::Error::new(io::ErrorKind::ReadOnlyFilesystem, "it was opened for reading only");
        Err(BackendError::Io { action: "write to the store".to_owned(), source })
    }

    /// Makes the commit that `body` encodes durable, and then its changes visible.
    ///
    /// # Errors
    /// [`BackendError`] after which nothing more may be written.
    fn commit(&self, _body: Vec<u8>, changes: Vec<RecordChange>) -> Result<(), BackendError> {
        self.write(&changes)
    }

    /// Compares what is kept twice, and reports what differs.
    ///
    /// # Errors
    /// [`BackendError`] when something cannot be read for another reason than damage.
    fn compare(&self) -> Result<Vec<String>, BackendError> {
        Ok(Vec::new())
    }

    /// Returns the folder of the journal from which the records are made, if there is one.
    fn journal(&self) -> Option<&Path> {
        None
    }

    /// Lets go of the files.
    ///
    /// # Errors
    /// [`BackendError`] when not everything could be finished; what was acknowledged is durable all the same.
    fn close(self: Box<Self>) -> Result<(), BackendError> {
        Ok(())
    }
}
