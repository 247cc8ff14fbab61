//! The store as it is read.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use super::history::checked;
use super::records::Records;
use crate::backend::sled::read_only::ReadOnlyBackend;
use crate::dir::format;
use crate::dir::snapshots::Snapshots;
use crate::error::StoreError;

/// A store of matches, as far as it is read: there is nothing by which it could be changed.
///
/// Opened by itself it writes nothing at all in the store's directory, whatever is wrong there. Many may be open at a
/// time, but none beside a [`Store`](crate::Store).
pub struct StoreReader {
    pub(crate) records: Arc<Records>,
}

impl StoreReader {
    /// Opens an existing store for reading only.
    ///
    /// # Errors
    /// As for [`Store::open`](crate::Store::open).
    pub fn open(dir: &Path) -> Result<Self, StoreError> {
        Self::open_by(dir).map_err(StoreError::unopened)
    }

    fn open_by(dir: &Path) -> Result<Self, StoreError> {
        let (lock, places) = format::hold_for_reading(dir)?;
        let backend = Box::new(ReadOnlyBackend::open(&places, lock)?);
        let (records, _) = checked(backend, Some(Snapshots::of(dir)))?;
        Ok(Self { records: Arc::new(records) })
    }
}

impl fmt::Debug for StoreReader {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("StoreReader").finish_non_exhaustive()
    }
}
