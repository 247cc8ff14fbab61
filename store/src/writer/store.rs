//! The store itself: opening, creating and closing it.

use std::fmt;
use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;

use super::committer::Committer;
use crate::backend::memory::MemoryBackend;
use crate::backend::sled::disk::DiskBackend;
use crate::backend::sled::opening::require_nothing_committed;
use crate::backend::sled::read_only::ReadOnlyBackend;
use crate::backend::{Backend, BackendError, Watermark};
use crate::dir::format;
use crate::dir::lock::Lock;
use crate::dir::snapshots::Snapshots;
use crate::error::StoreError;
use crate::layout::record::StoreRecord;
use crate::layout::{key, record};
use crate::reader::found::find_store_record;
use crate::reader::history::{check_history, checked};
use crate::reader::records::Records;
use crate::reader::store_reader::StoreReader;
use crate::rescue::doubt::require_no_loss;

/// A store of matches: an append-only log for every branch of each.
///
/// What it reads, it reads as a [`StoreReader`]. It can be shared between threads. One store has one handle; dropping
/// it closes the store and logs what goes wrong, [`close`](Store::close) returns it.
pub struct Store {
    // The committer's thread ends before the backend closes.
    pub(crate) committer: Committer,
    reader: StoreReader,
}

impl Store {
    /// Opens an existing store for writing.
    ///
    /// # Errors
    /// [`StoreError::Missing`] or [`StoreError::NotAStore`] when there is none, [`StoreError::Locked`] when it is in
    /// use, [`StoreError::UnknownFormat`], [`StoreError::Lost`] and [`StoreError::Corrupt`] when it cannot be served.
    pub fn open(dir: &Path) -> Result<Self, StoreError> {
        let opened = format::hold_existing(dir).and_then(|lock| open_disk(dir, lock));
        Self::start(Box::new(opened.map_err(StoreError::unopened)?), Some(Snapshots::of(dir)))
    }

    /// Opens a store, making it first when `dir` does not exist or is empty.
    ///
    /// # Errors
    /// As for [`open`](Store::open); [`StoreError::NotAStore`] when the directory belongs to something else, which is
    /// then left as it is.
    pub fn open_or_create(dir: &Path) -> Result<Self, StoreError> {
        Self::open_or_create_by(dir, std::convert::identity)
    }

    fn open_or_create_by(
        dir: &Path,
        adapt: impl FnOnce(DiskBackend) -> DiskBackend,
    ) -> Result<Self, StoreError> {
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
        Self::start(backend, Some(Snapshots::of(dir)))
    }

    /// As [`open_or_create`](Store::open_or_create), but durable as in a build in which sled's sync is not bound to
    /// `fdatasync`; so that tests can compare.
    ///
    /// # Errors
    /// As for [`open_or_create`](Store::open_or_create).
    #[doc(hidden)]
    pub fn open_or_create_unbound(dir: &Path) -> Result<Self, StoreError> {
        Self::open_or_create_by(dir, DiskBackend::unbound)
    }

    /// As [`open_or_create`](Store::open_or_create), but so many bytes of commits, rather than a journal full of them,
    /// are moved into sled at a time; so that tests see that often.
    ///
    /// # Errors
    /// As for [`open_or_create`](Store::open_or_create).
    #[doc(hidden)]
    pub fn open_or_create_with_journal_of(dir: &Path, bytes: usize) -> Result<Self, StoreError> {
        Self::open_or_create_by(dir, |backend| backend.with_journal_of(bytes))
    }

    /// Makes an empty store in memory.
    ///
    /// # Panics
    /// Never: memory does not fail.
    #[must_use]
    pub fn in_memory() -> Self {
        Self::with_backend(Box::new(MemoryBackend::new())).expect("an empty store in memory opens")
    }

    /// Opens the store that a backend holds, making it first when the backend has nothing.
    ///
    /// # Errors
    /// Those of the backend, [`StoreError::Lost`] and [`StoreError::Corrupt`].
    #[doc(hidden)]
    pub fn with_backend(backend: Box<dyn Backend>) -> Result<Self, StoreError> {
        if backend.watermark()?.is_none() {
            initialize(backend.as_ref())?;
        }
        Self::start(backend, None)
    }

    pub(crate) fn start(backend: Box<dyn Backend>, snapshots: Option<Snapshots>) -> Result<Self, StoreError> {
        let (records, record) = checked(backend, snapshots)?;
        let records = Arc::new(records);
        let committer = Committer::start(Arc::clone(&records), record)?;
        Ok(Self { committer, reader: StoreReader { records } })
    }

    /// Closes the store, so that everything is on disk and its watermark is up to date.
    ///
    /// # Errors
    /// What failed last; everything acknowledged was durable before.
    pub fn close(self) -> Result<(), StoreError> {
        let Self { mut committer, reader: StoreReader { records } } = self;
        committer.stop()?;
        // The committer's thread had the only other handle, and has ended.
        Arc::into_inner(records).map_or(Ok(()), |records| Ok(records.backend.close()?))
    }

    pub(crate) fn records(&self) -> &Records {
        &self.reader.records
    }
}

impl Deref for Store {
    type Target = StoreReader;

    fn deref(&self) -> &StoreReader {
        &self.reader
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Store").finish_non_exhaustive()
    }
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
