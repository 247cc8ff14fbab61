//! Opens and creates stores on disk, for reading or for writing.

use std::path::Path;
use std::time::SystemTime;

use crate::error::StoreError;
use crate::local::backend::{Backend, BackendError, MemoryBackend};
use crate::local::disk::DiskBackend;
use crate::local::files::Places;
use crate::local::index::{FoundIndex, OnBuilding, has_reached, missing, open_sound};
use crate::local::journal::head::HEAD_BYTES;
use crate::local::journal::{Image, read_next_to_writer, segment};
use crate::local::lock::Locks;
use crate::local::losses::locate;
use crate::local::record::StoreRecord;
use crate::local::records::{Records, find_store_record};
use crate::local::view::MemoryRecords;
use crate::local::writer::Local;
use crate::local::{format, key, record, swap};
use crate::snapshots::Snapshots;

/// The bytes of the segments up to which replaying them is quicker than starting sled, also where they are compressed.
const SMALL_BYTES: u64 = 256 * 1024;

/// Opens the records of an existing store for reading only (ST-5, ST-16).
///
/// It reads the index if the index can be used at once, otherwise the journal: for example while another process
/// writes.
pub(crate) fn open_for_reading(dir: &Path) -> Result<Records, StoreError> {
    format::require_store(dir)?;
    swap::read_unswapped(dir, |places| open_at(dir, places))
}

fn open_at(dir: &Path, places: &Places) -> Result<Records, StoreError> {
    if let Some(view) = view_of_small(places) {
        return Ok(Records::new(Box::new(view), Some(Snapshots::of(dir))));
    }
    let read = read_at(dir, places);
    let backend = read.map_err(|error| locate(&places.journal, error).unopened())?;
    Ok(Records::new(backend, Some(Snapshots::of(dir))))
}

fn read_at(dir: &Path, places: &Places) -> Result<Box<dyn Backend>, BackendError> {
    let locks = Locks::take_if_free(dir, &places.journal).filter(|_| is_clock_usable());
    let image = read_next_to_writer(&places.journal)?;
    // The locks may be on files that a compaction has replaced, so a writer may be at work after all. Only a closed
    // journal shows that none is.
    if image.is_closed
        && let Some(locks) = locks
        && let Some(backend) = open_index(places, &image, locks)?
    {
        return Ok(Box::new(backend));
    }
    Ok(Box::new(MemoryRecords::read(&image, u64::MAX, false)?))
}

/// Replays a small journal (ST-23); `None` if the index has to be opened, or if anything is unusual.
fn view_of_small(places: &Places) -> Option<MemoryRecords> {
    let mut bytes = 0;
    for (_, segment) in segment::list(&places.journal).ok()? {
        bytes += segment.metadata().ok()?.len();
    }
    if bytes > SMALL_BYTES {
        return None;
    }
    let image = Image::read(&places.journal).ok()?;
    if !image.is_closed || !has_reached(&places.sled, &image) {
        return None;
    }
    let view = MemoryRecords::read(&image, u64::MAX, false).ok()?;
    Some(view.next_to_index())
}

/// Opens the index of a store that was opened without it (ST-23); `None` if it cannot be used now, for example because
/// a writer has opened the store since.
pub(crate) fn open_skipped(dir: &Path) -> Result<Option<DiskBackend>, BackendError> {
    swap::read_unswapped(dir, |places| {
        let locks = Locks::take_if_free(dir, &places.journal).filter(|_| is_clock_usable());
        let Some(locks) = locks else { return Ok(None) };
        let image = read_next_to_writer(&places.journal)?;
        if image.is_closed { open_index(places, &image, locks) } else { Ok(None) }
    })
}

/// Opens the index if it is sound; otherwise returns `None`. Opening the store for writing finds the trouble again and
/// repairs it.
///
/// # Errors
/// Returns [`BackendError::Damaged`] if the index has commits that the journal lost.
fn open_index(places: &Places, image: &Image, locks: Locks) -> Result<Option<DiskBackend>, BackendError> {
    let found = open_sound(&places.sled, image);
    let reason = match found.unwrap_or_else(|error| FoundIndex::Damaged(error.to_string())) {
        FoundIndex::Sound(tree) => match DiskBackend::for_reading(places, image, tree, locks) {
            Ok(backend) => return Ok(Some(backend)),
            Err(error) => error.to_string(),
        },
        FoundIndex::Ahead(commits) => return Err(missing(commits, image.end.number)),
        FoundIndex::Unnamed => return Ok(None),
        FoundIndex::Damaged(reason) => reason,
    };
    tracing::warn!(error = %reason, "the index cannot be used; the journal is read instead");
    Ok(None)
}

#[expect(clippy::disallowed_methods, reason = "sled reads it, and panics when it is before 1970")]
pub(crate) fn is_clock_usable() -> bool {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).is_ok()
}

pub(crate) fn open_for_writing(dir: &Path, observe: OnBuilding<'_>) -> Result<Local, StoreError> {
    require_clock()?;
    let opened =
        format::hold_existing(dir).and_then(|(locks, places)| open_disk(&places, locks, HEAD_BYTES, observe));
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
    let lock = format::hold_or_create(dir)?;
    // Another process may have completed the store before this one got the lock.
    let is_complete = format::has_format(dir)?;
    if !is_complete {
        format::create_journal(dir)?;
    }
    let opened =
        format::hold(dir, lock).and_then(|(locks, places)| open_disk(&places, locks, head_bytes, observe));
    let opened = opened.map_err(StoreError::unopened)?;
    if !is_complete {
        format::complete(dir)?;
    }
    Local::start(Box::new(opened), Some(Snapshots::of(dir)))
}

pub(crate) fn require_clock() -> Result<(), StoreError> {
    if is_clock_usable() { Ok(()) } else { Err(StoreError::Clock) }
}

pub(crate) fn open_backend(backend: Box<dyn Backend>) -> Result<Local, StoreError> {
    if find_store_record(backend.as_ref())?.is_none() {
        if !backend.scan(&(vec![0]..vec![u8::MAX]), 1)?.is_empty() {
            return Err(StoreError::damaged("the store's own record is missing"));
        }
        backend.write(&[record::put(key::STORE.to_vec(), &StoreRecord::EMPTY)])?;
    }
    Local::start(backend, None)
}

pub(crate) fn in_memory() -> Local {
    open_backend(Box::new(MemoryBackend::new())).expect("an empty store in memory opens")
}

pub(crate) fn open_disk(
    places: &Places,
    locks: Locks,
    head_bytes: usize,
    observe: OnBuilding<'_>,
) -> Result<DiskBackend, StoreError> {
    let image = Image::read(&places.journal);
    let opened = image.and_then(|image| DiskBackend::open(places, &image, locks, head_bytes, observe));
    opened.map_err(|error| locate(&places.journal, error))
}
