//! The store itself: opening, creating and closing it.

use std::fmt;
use std::ops::Deref;
use std::path::Path;

use turnfold_core::Digest;

use crate::engine::{Engine, EngineReader};
use crate::error::StoreError;
use crate::local::backend::Backend;
use crate::local::journal::head::HEAD_BYTES;
use crate::local::writer::open_disk::{in_memory, open, open_backend, open_or_create};
use crate::names::{BranchName, MatchName};
use crate::reader::store_reader::StoreReader;
use crate::snapshots::{Snapshot, has_snapshot};

/// A store of matches: an append-only log for every branch of each.
///
/// What it reads, it reads as a [`StoreReader`]. It can be shared between threads. One store has one handle; dropping
/// it closes the store and logs what goes wrong, [`close`](Store::close) returns it.
pub struct Store {
    // The writer ends before what is read is closed.
    pub(super) engine: Box<dyn Engine>,
    reader: StoreReader,
}

impl Store {
    /// Opens an existing store for writing.
    ///
    /// # Errors
    /// [`StoreError::Missing`] or [`StoreError::NotAStore`] when there is none, [`StoreError::Locked`] when it is in
    /// use, [`StoreError::UnknownFormat`] and [`StoreError::Corrupt`] when it cannot be served.
    pub fn open(dir: &Path) -> Result<Self, StoreError> {
        Self::open_observed(dir, &mut |_, _| {})
    }

    /// As [`open`](Store::open). While the index is built from the journal, it calls `observe` now and then with how many
    /// commits are done, and how many there are.
    ///
    /// # Errors
    /// As for [`open`](Store::open).
    pub fn open_observed(dir: &Path, observe: &mut dyn FnMut(u64, u64)) -> Result<Self, StoreError> {
        open(dir, observe).map(Self::of)
    }

    /// Opens a store, making it first when `dir` does not exist or is empty.
    ///
    /// # Errors
    /// As for [`open`](Store::open); [`StoreError::NotAStore`] when the directory belongs to something else, which is
    /// then left as it is.
    pub fn open_or_create(dir: &Path) -> Result<Self, StoreError> {
        Self::open_or_create_observed(dir, &mut |_, _| {})
    }

    /// As [`open_or_create`](Store::open_or_create), observed as in [`open_observed`](Store::open_observed).
    ///
    /// # Errors
    /// As for [`open_or_create`](Store::open_or_create).
    pub fn open_or_create_observed(
        dir: &Path,
        observe: &mut dyn FnMut(u64, u64),
    ) -> Result<Self, StoreError> {
        open_or_create(dir, HEAD_BYTES, observe).map(Self::of)
    }

    /// As [`open_or_create`](Store::open_or_create), but only `bytes` of a head of the journal are used; so that
    /// tests see it full often.
    ///
    /// # Errors
    /// As for [`open_or_create`](Store::open_or_create).
    #[doc(hidden)]
    pub fn open_or_create_with_heads_of(dir: &Path, bytes: usize) -> Result<Self, StoreError> {
        open_or_create(dir, bytes, &mut |_, _| {}).map(Self::of)
    }

    /// Makes an empty store in memory.
    ///
    /// # Panics
    /// Never: memory does not fail.
    #[must_use]
    pub fn in_memory() -> Self {
        Self::of(in_memory())
    }

    /// Opens the store that a backend holds, making it first when the backend has nothing.
    ///
    /// # Errors
    /// Any error of the backend, and [`StoreError::Corrupt`].
    #[doc(hidden)]
    pub fn with_backend(backend: Box<dyn Backend>) -> Result<Self, StoreError> {
        open_backend(backend).map(Self::of)
    }

    pub(crate) fn of(engine: impl Engine + 'static) -> Self {
        let reader = StoreReader { engine: engine.reader() };
        Self { engine: Box::new(engine), reader }
    }

    /// Keeps the state after an entry, if it can and the entry is one that has a snapshot.
    ///
    /// # Errors
    /// Every error of [`entries`](crate::StoreReader::entries). Trouble with the snapshot is no error.
    pub fn keep_snapshot(
        &self,
        match_name: &MatchName,
        branch: &BranchName,
        snapshot: &Snapshot,
        build: &Digest,
    ) -> Result<(), StoreError> {
        let seq = snapshot.seq;
        let Some(snapshots) = self.engine().snapshots().filter(|_| has_snapshot(seq)) else {
            return Ok(());
        };
        let mut entries = self.entries(match_name, branch, seq..=seq)?;
        entries.try_for_each(|entry| entry.map(|_| ()))?;
        if let Err(error) = snapshots.write(&entries.link(), snapshot, build) {
            tracing::debug!(%error, seq, "a snapshot could not be kept");
        }
        Ok(())
    }

    /// Returns how many bytes are free for this user where a store's directory is; `None` where the system does not answer
    /// that without unsafe code.
    ///
    /// # Errors
    /// [`StoreError::Io`] when the system cannot find out.
    pub fn free_bytes(dir: &Path) -> Result<Option<u64>, StoreError> {
        #[cfg(unix)]
        {
            let action = || format!("find the free space at `{}`", dir.display());
            let failed = |error: rustix::io::Errno| StoreError::Io { action: action(), source: error.into() };
            let found = rustix::fs::statvfs(dir).map_err(failed)?;
            Ok(Some(found.f_bavail.saturating_mul(found.f_frsize)))
        }
        #[cfg(not(unix))]
        {
            let _ = dir;
            Ok(None)
        }
    }

    /// Closes the store, so that its journal records that nothing is missing at its end.
    ///
    /// # Errors
    /// What failed last; everything acknowledged was durable before.
    pub fn close(self) -> Result<(), StoreError> {
        let Self { engine, reader } = self;
        drop(reader);
        engine.close()
    }

    /// Returns what reads while the engine writes.
    pub(crate) fn engine(&self) -> &dyn EngineReader {
        self.reader.engine.as_ref()
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
