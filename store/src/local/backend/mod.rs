//! Backends: where records lie. One keeps them on disk, one in memory.

use std::io;
use std::ops::Range;
use std::path::Path;

pub use crate::local::layout::watermark::{EntryRef, Watermark};

pub mod memory;
pub mod sled;

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
        /// What the operating system says.
        source: io::Error,
    },
    /// What was written may or may not be on disk.
    #[error("cannot sync: {source}")]
    Unsynced {
        /// What the operating system says.
        source: io::Error,
    },
}

impl BackendError {
    /// Says what failed with a file.
    pub(crate) fn io(action: &str, path: &Path, source: io::Error) -> Self {
        Self::Io { action: format!("{action} `{}`", path.display()), source }
    }
}

/// Ordered records that are written in atomic batches, and a watermark beside them.
///
/// There is one writer, the committer; readers read at the same time.
pub trait Backend: Send + Sync {
    /// Returns a record's value.
    ///
    /// # Errors
    /// [`BackendError`] when it cannot be read.
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, BackendError>;

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

    /// Makes changes all together or not at all, and durable.
    ///
    /// # Errors
    /// [`BackendError`] after which nothing more may be written.
    fn commit(&self, changes: Vec<RecordChange>) -> Result<(), BackendError> {
        self.write(&changes)?;
        self.flush()
    }

    /// Returns `true` if a [`flush`](Backend::flush) is due: the next commits would have to wait for one.
    fn wants_flush(&self) -> bool {
        false
    }

    /// Makes changes all together or not at all; they are visible at once and durable after [`flush`](Backend::flush).
    /// What is committed meanwhile may be durable without them.
    ///
    /// # Errors
    /// [`BackendError`] after which nothing more may be written.
    fn write(&self, changes: &[RecordChange]) -> Result<(), BackendError>;

    /// Makes every change so far durable.
    ///
    /// # Errors
    /// [`BackendError`] after which nothing more may be written.
    fn flush(&self) -> Result<(), BackendError>;

    /// Returns the watermark, or `None` when there never was one.
    ///
    /// # Errors
    /// [`BackendError`] when it cannot be read.
    fn watermark(&self) -> Result<Option<Watermark>, BackendError>;

    /// Returns what is wrong with the watermark although it can be read, such as a damaged line.
    ///
    /// # Errors
    /// [`BackendError`] when it cannot be read.
    fn watermark_damage(&self) -> Result<Option<String>, BackendError>;

    /// Returns what may be damage that hides records; only an audit of all of them can tell.
    fn doubt(&self) -> Option<BackendError> {
        None
    }

    /// Replaces the watermark, durably.
    ///
    /// # Errors
    /// [`BackendError`] when it cannot be written; the one before is then still there.
    fn set_watermark(&self, watermark: &Watermark) -> Result<(), BackendError>;

    /// Makes every change durable and lets go of the files.
    ///
    /// # Errors
    /// [`BackendError`] when what was written since the last flush may be missing.
    fn close(self: Box<Self>) -> Result<(), BackendError> {
        self.flush()
    }
}
