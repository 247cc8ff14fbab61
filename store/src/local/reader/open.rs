//! Opening the records of a store for reading only.

use std::path::Path;

use super::history::checked;
use super::records::Records;
use crate::error::StoreError;
use crate::local::backend::sled::read_only::ReadOnlyBackend;
use crate::local::dir::format;
use crate::local::rescue::doubt::require_no_loss;
use crate::snapshots::Snapshots;

/// Opens the records of an existing store for reading only.
pub(crate) fn open(dir: &Path) -> Result<Records, StoreError> {
    let (lock, places) = format::hold_for_reading(dir)?;
    let backend = Box::new(ReadOnlyBackend::open(&places, lock)?);
    let (records, _) = checked(backend, Some(Snapshots::of(dir)))?;
    require_no_loss(&records)?;
    Ok(records)
}
