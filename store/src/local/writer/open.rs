//! Opening and creating a store on disk.

use std::path::Path;
use std::time::SystemTime;

use super::engine::Local;
use crate::error::StoreError;
use crate::local::backend::memory::MemoryBackend;
use crate::local::backend::sled::disk::DiskBackend;
use crate::local::backend::sled::opening::require_nothing_committed;
use crate::local::backend::sled::read_only::ReadOnlyBackend;
use crate::local::backend::{Backend, BackendError, Watermark};
use crate::local::dir::format;
use crate::local::dir::lock::Lock;
use crate::local::layout::record::StoreRecord;
use crate::local::layout::{key, record};
use crate::local::reader::found::find_store_record;
use crate::local::reader::history::{check_history, checked};
use crate::local::rescue::doubt::require_no_loss;
use crate::snapshots::Snapshots;

/// Opens an existing store for writing.
pub(crate) fn open(dir: &Path) -> Result<Local, StoreError> {
    require_clock()?;
    let opened = format::hold_existing(dir).and_then(|lock| open_disk(dir, lock));
    Local::start(Box::new(opened.map_err(StoreError::unopened)?), Some(Snapshots::of(dir)))
}

/// Opens a store, making it first when `dir` does not exist or is empty.
pub(crate) fn open_or_create(
    dir: &Path,
    adapt: impl FnOnce(DiskBackend) -> DiskBackend,
) -> Result<Local, StoreError> {
    require_clock()?;
    let held = format::hold_or_create(dir)?;
    let opened = if held.is_complete {
        open_disk(dir, held.lock).map_err(StoreError::unopened)?
    } else {
        require_nothing_committed(dir)?;
        DiskBackend::open_or_create(dir, held.lock)?
    };
    let backend = Box::new(adapt(opened));
    if !held.is_complete {
        initialize(backend.as_ref())?;
        format::complete(dir)?;
    }
    Local::start(backend, Some(Snapshots::of(dir)))
}

/// Requires a clock with which sled does not panic.
#[expect(clippy::disallowed_methods, reason = "sled reads it, and panics when it is before 1970")]
pub(crate) fn require_clock() -> Result<(), StoreError> {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map(|_| ()).map_err(|_| StoreError::Clock)
}

/// Opens the store that a backend holds, making it first when the backend has nothing.
pub(crate) fn open_backend(backend: Box<dyn Backend>) -> Result<Local, StoreError> {
    if backend.watermark()?.is_none() {
        initialize(backend.as_ref())?;
    }
    Local::start(backend, None)
}

/// Makes an empty store in memory.
pub(crate) fn in_memory() -> Local {
    open_backend(Box::new(MemoryBackend::new())).expect("an empty store in memory opens")
}

/// Opens the records of a store on which `lock` holds the lock, if they are sound; otherwise every file stays as it is.
pub(crate) fn open_disk(dir: &Path, lock: Lock) -> Result<DiskBackend, StoreError> {
    let check = |backend| checked(Box::new(backend), None).and_then(|(records, _)| require_no_loss(&records));
    format::finish_swap(dir, |places| check(ReadOnlyBackend::open(places, None)?))?;
    DiskBackend::open(dir, lock, check)
}

/// Writes the first records of a store in which nothing is committed yet.
fn initialize(backend: &dyn Backend) -> Result<(), StoreError> {
    match find_store_record(backend)? {
        Some(StoreRecord { now, .. }) if now != Watermark::NOTHING => {
            let entries = now.entries;
            let reason = format!("it holds {entries} entries, but the files that say what it is are missing");
            return Err(StoreError::damaged(reason));
        }
        Some(_) => {}
        None => {
            backend.write(&[record::put(key::STORE.to_vec(), &StoreRecord::EMPTY)])?;
            backend.flush()?;
        }
    }
    match backend.watermark() {
        Ok(Some(marked)) => check_history(Some(&StoreRecord::EMPTY), Some(&marked)),
        // A file without a readable line was cut short while it was made: nothing had been committed.
        Ok(None) | Err(BackendError::Damaged(_)) => Ok(backend.set_watermark(&Watermark::NOTHING)?),
        Err(error) => Err(error.into()),
    }
}
