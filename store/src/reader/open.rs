//! Opening a store for reading only.

use std::path::Path;
use std::sync::Arc;

use super::history::checked;
use super::store_reader::StoreReader;
use crate::backend::sled::read_only::ReadOnlyBackend;
use crate::dir::format;
use crate::dir::snapshots::Snapshots;
use crate::error::StoreError;
use crate::rescue::doubt::require_no_loss;

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
        require_no_loss(&records)?;
        Ok(Self { records: Arc::new(records) })
    }
}
