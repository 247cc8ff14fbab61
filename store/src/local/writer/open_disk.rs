//! Opens and creates stores on disk.

use std::path::Path;

use super::engine::Local;
use crate::error::StoreError;
use crate::local::backend::Backend;
use crate::local::backend::disk::DiskBackend;
use crate::local::backend::memory::MemoryBackend;
use crate::local::dir::files::Places;
use crate::local::dir::format;
use crate::local::dir::lock::Locks;
use crate::local::index::open_index::OnBuilding;
use crate::local::journal::head::HEAD_BYTES;
use crate::local::journal::image::Image;
use crate::local::layout::record::StoreRecord;
use crate::local::layout::{key, record};
use crate::local::reader::found::find_store_record;
use crate::local::reader::open_records::is_clock_usable;
use crate::local::rescue::losses::locate;
use crate::snapshots::Snapshots;

/// Opens an existing store for writing.
pub(crate) fn open(dir: &Path, observe: OnBuilding<'_>) -> Result<Local, StoreError> {
    require_clock()?;
    let opened = format::hold_existing(dir)
        .and_then(|(locks, places)| open_disk(&places, (locks, HEAD_BYTES), observe));
    Local::start(Box::new(opened.map_err(StoreError::unopened)?), Some(Snapshots::of(dir)))
}

/// Opens a store. If `dir` is missing or empty, it creates the store first. Only `head_bytes` of each head are used for
/// frames.
pub(crate) fn open_or_create(
    dir: &Path,
    head_bytes: usize,
    observe: OnBuilding<'_>,
) -> Result<Local, StoreError> {
    require_clock()?;
    let held = format::hold_or_create(dir)?;
    if !held.is_complete {
        format::create_journal(dir)?;
    }
    let opened = format::hold(dir, held.lock)
        .and_then(|(locks, places)| open_disk(&places, (locks, head_bytes), observe));
    let opened = opened.map_err(StoreError::unopened)?;
    if !held.is_complete {
        format::complete(dir)?;
    }
    Local::start(Box::new(opened), Some(Snapshots::of(dir)))
}

/// Requires a clock with which sled does not panic.
pub(crate) fn require_clock() -> Result<(), StoreError> {
    if is_clock_usable() { Ok(()) } else { Err(StoreError::Clock) }
}

/// Opens the store in a backend. If the backend is empty, it creates the store first.
pub(crate) fn open_backend(backend: Box<dyn Backend>) -> Result<Local, StoreError> {
    if find_store_record(backend.as_ref())?.is_none() {
        if !backend.scan(&(vec![0]..vec![u8::MAX]), 1)?.is_empty() {
            return Err(StoreError::damaged("the store's own record is missing"));
        }
        backend.write(&[record::put(key::STORE.to_vec(), &StoreRecord::EMPTY)])?;
    }
    Local::start(backend, None)
}

/// Creates an empty store in memory.
pub(crate) fn in_memory() -> Local {
    open_backend(Box::new(MemoryBackend::new())).expect("an empty store in memory opens")
}

/// Opens the records of a store whose locks are held. The number is how many bytes of each head are used for frames.
pub(crate) fn open_disk(
    places: &Places,
    locks: (Locks, usize),
    observe: OnBuilding<'_>,
) -> Result<DiskBackend, StoreError> {
    let image = Image::read(&places.journal).map_err(|error| locate(&places.journal, error))?;
    DiskBackend::open(places, &image, locks, observe).map_err(|error| locate(&places.journal, error))
}
