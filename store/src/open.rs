//! The store itself: opening, creating and closing it.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Deref;
use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::backend::memory::MemoryBackend;
use crate::backend::sled::disk::DiskBackend;
use crate::backend::sled::opening::require_nothing_committed;
use crate::backend::sled::read_only::ReadOnlyBackend;
use crate::backend::{Backend, BackendError, Watermark};
use crate::dir::format;
use crate::dir::lock::Lock;
use crate::error::StoreError;
use crate::layout::record::{HeadRecord, StoreRecord};
use crate::layout::{key, record};
use crate::reader::lookup;
use crate::reader::snapshot::Snapshots;
use crate::writer::committer::Committer;

/// A store of matches: an append-only log for every branch of each.
///
/// What it reads, it reads as a [`StoreReader`]. It can be shared between threads. One store has one handle; dropping
/// it closes the store and logs what goes wrong, [`close`](Store::close) says so.
pub struct Store {
    // The committer's thread ends before the backend closes.
    pub(crate) committer: Committer,
    reader: StoreReader,
}

/// A store of matches, as far as it is read: there is nothing by which it could be changed.
///
/// Opened by itself it writes nothing at all in the store's directory, whatever is wrong there. Many may be open at a
/// time, but none beside a [`Store`].
pub struct StoreReader {
    pub(crate) shared: Arc<Shared>,
}

/// What readers and the committer share.
pub(crate) struct Shared {
    pub(crate) backend: Box<dyn Backend>,
    /// The acknowledged heads of branches while newer ones are written but not yet durable.
    pub(crate) acknowledged: RwLock<BTreeMap<u64, HeadRecord>>,
    /// Held for reading by who needs the matches to stay under their names, for writing while one is renamed or deleted.
    /// Taken before `branches`.
    matches: RwLock<()>,
    /// Held for reading by who needs the branches of matches to stay, for writing while one is renamed or deleted.
    branches: RwLock<()>,
    /// Beside a log on disk.
    pub(crate) snapshots: Option<Snapshots>,
}

impl StoreReader {
    /// Opens an existing store for reading only.
    ///
    /// # Errors
    /// As for [`Store::open`].
    pub fn open(dir: &Path) -> Result<Self, StoreError> {
        Self::open_by(dir).map_err(StoreError::unopened)
    }

    fn open_by(dir: &Path) -> Result<Self, StoreError> {
        let (lock, places) = format::hold_for_reading(dir)?;
        let backend = Box::new(ReadOnlyBackend::open(&places, lock)?);
        let (shared, _) = Shared::checked(backend, Some(Snapshots::of(dir)))?;
        Ok(Self { shared: Arc::new(shared) })
    }
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
        Self::open_or_create_by(dir, Ok)
    }

    fn open_or_create_by(
        dir: &Path,
        adapt: impl FnOnce(DiskBackend) -> Result<DiskBackend, BackendError>,
    ) -> Result<Self, StoreError> {
        let held = format::hold_or_create(dir)?;
        let opened = if held.is_complete {
            open_disk(dir, held.lock).map_err(StoreError::unopened)?
        } else {
            require_nothing_committed(dir)?;
            DiskBackend::open_or_create(dir, held.lock)?
        };
        let backend = Box::new(adapt(opened)?);
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
        let (shared, record) = Shared::checked(backend, snapshots)?;
        let shared = Arc::new(shared);
        let committer = Committer::start(Arc::clone(&shared), record)?;
        Ok(Self { committer, reader: StoreReader { shared } })
    }

    /// Closes the store, so that everything is on disk and its watermark is up to date.
    ///
    /// # Errors
    /// What failed last; everything acknowledged was durable before.
    pub fn close(self) -> Result<(), StoreError> {
        let Self { mut committer, reader: StoreReader { shared } } = self;
        committer.stop()?;
        // The committer's thread had the only other handle, and has ended.
        Arc::into_inner(shared).map_or(Ok(()), |shared| Ok(shared.backend.close()?))
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

impl fmt::Debug for StoreReader {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("StoreReader").finish_non_exhaustive()
    }
}

impl Shared {
    pub(crate) fn new(backend: Box<dyn Backend>) -> Self {
        Self {
            backend,
            acknowledged: RwLock::default(),
            matches: RwLock::default(),
            branches: RwLock::default(),
            snapshots: None,
        }
    }

    /// Keeps all matches there and under their names.
    pub(crate) fn hold_matches(&self) -> RwLockReadGuard<'_, ()> {
        self.matches.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until nobody holds the matches.
    pub(crate) fn change_matches(&self) -> RwLockWriteGuard<'_, ()> {
        self.matches.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps the branches of all matches there and under their names.
    pub(crate) fn hold_branches(&self) -> RwLockReadGuard<'_, ()> {
        self.branches.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until nobody holds the branches.
    pub(crate) fn change_branches(&self) -> RwLockWriteGuard<'_, ()> {
        self.branches.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Requires what the backend holds to be what its watermark saw; returns the store record too, with `marked` as it
    /// is on disk.
    fn checked(
        backend: Box<dyn Backend>,
        snapshots: Option<Snapshots>,
    ) -> Result<(Self, StoreRecord), StoreError> {
        let shared = Self { snapshots, ..Self::new(backend) };
        let marked = shared.backend.watermark()?;
        let record = read_store_record(shared.backend.as_ref())?;
        check_history(record.as_ref(), marked.as_ref()).map_err(|error| shared.locate_loss(error))?;
        let (Some(record), Some(marked)) = (record, marked) else {
            return Err(StoreError::damaged("the store's own record is missing"));
        };
        Ok((shared, StoreRecord { marked, ..record }))
    }

    /// Adds how much is left of the branch that was written to last.
    fn locate_loss(&self, error: StoreError) -> StoreError {
        match error {
            StoreError::Lost {
                expected_commits,
                found_commits,
                expected_entries,
                found_entries,
                last,
                ..
            } => {
                // What cannot be found there any more is lost as a whole.
                let held = last.as_ref().and_then(|last| self.find(&last.match_name, &last.branch).ok());
                let held = held.map_or(0, |(_, _, head)| head.seq);
                StoreError::Lost {
                    expected_commits,
                    found_commits,
                    expected_entries,
                    found_entries,
                    last,
                    held,
                }
            }
            other => other,
        }
    }
}

/// Opens the records of a store on which `lock` holds the lock, if they are sound; otherwise every file stays as it is.
pub(crate) fn open_disk(dir: &Path, lock: Lock) -> Result<DiskBackend, StoreError> {
    let check = |backend| Shared::checked(Box::new(backend), None).map(|_| ());
    format::finish_swap(dir, |places| check(ReadOnlyBackend::open(places, None)?))?;
    DiskBackend::open(dir, lock, check)
}

/// Writes the first records of a store in which nothing is committed yet.
fn initialize(backend: &dyn Backend) -> Result<(), StoreError> {
    match read_store_record(backend)? {
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

fn read_store_record(backend: &dyn Backend) -> Result<Option<StoreRecord>, StoreError> {
    let value = backend.get(key::STORE)?;
    value.as_deref().map(lookup::read_store_record).transpose()
}

/// Requires what sled holds to be what the watermark saw, or a continuation of it.
fn check_history(record: Option<&StoreRecord>, marked: Option<&Watermark>) -> Result<(), StoreError> {
    let Some(marked) = marked else {
        return Err(StoreError::damaged("the file `WATERMARK` is missing"));
    };
    let now = record.map_or(&Watermark::NOTHING, |record| &record.now);
    if now.commits < marked.commits {
        return Err(StoreError::Lost {
            expected_commits: marked.commits,
            found_commits: now.commits,
            expected_entries: marked.entries,
            found_entries: now.entries,
            last: marked.last.clone(),
            held: 0,
        });
    }
    if record.is_some_and(|record| *marked != record.now && *marked != record.marked) {
        return Err(StoreError::damaged("its watermark belongs to another history than its records"));
    }
    Ok(())
}
