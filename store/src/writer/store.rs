//! The store: opening, creating and closing it.

use std::fmt;
use std::ops::Deref;
use std::path::Path;

use turnfold_core::Digest;

use crate::engine::{Engine, EngineReader};
use crate::error::StoreError;
use crate::local::backend::Backend;
use crate::local::journal::head::HEAD_BYTES;
use crate::local::open::{in_memory, open_backend, open_for_writing, open_or_create};
use crate::names::{BranchName, MatchName};
use crate::reader::store_reader::StoreReader;
use crate::snapshots::{Snapshot, has_snapshot};

/// A store of matches, with an append-only log for every branch of a match.
///
/// It dereferences to the [`StoreReader`] that it reads with. Threads can share it. A store has one handle. Dropping
/// the handle closes the store and only logs errors; [`close`](Store::close) returns them.
pub struct Store {
    // The first field, so that the engine is dropped before the reader.
    pub(super) engine: Box<dyn Engine>,
    reader: StoreReader,
}

impl Store {
    /// Opens an existing store for writing.
    ///
    /// # Errors
    /// Returns [`StoreError::Missing`] or [`StoreError::NotAStore`] if the directory has no store,
    /// [`StoreError::Locked`] if it is in use, or [`StoreError::UnknownFormat`], [`StoreError::Corrupt`] or another
    /// error if it cannot be opened.
    pub fn open(dir: &Path) -> Result<Self, StoreError> {
        Self::open_observed(dir, &mut |_, _| {})
    }

    /// Opens a store like [`open`](Store::open). While the index is built from the journal, it calls `observe` with the
    /// number of commits done and the number of all commits.
    ///
    /// # Errors
    /// Returns the errors of [`open`](Store::open).
    pub fn open_observed(dir: &Path, observe: &mut dyn FnMut(u64, u64)) -> Result<Self, StoreError> {
        open_for_writing(dir, observe).map(Self::of)
    }

    /// Opens a store. If `dir` is missing or empty, it creates the store first.
    ///
    /// # Errors
    /// Returns the errors of [`open`](Store::open), or [`StoreError::NotAStore`] if the directory belongs to something
    /// else. It then changes nothing.
    pub fn open_or_create(dir: &Path) -> Result<Self, StoreError> {
        Self::open_or_create_observed(dir, &mut |_, _| {})
    }

    /// Opens a store like [`open_or_create`](Store::open_or_create), with the progress of
    /// [`open_observed`](Store::open_observed).
    ///
    /// # Errors
    /// Returns the errors of [`open_or_create`](Store::open_or_create).
    pub fn open_or_create_observed(
        dir: &Path,
        observe: &mut dyn FnMut(u64, u64),
    ) -> Result<Self, StoreError> {
        open_or_create(dir, HEAD_BYTES, observe).map(Self::of)
    }

    /// Opens a store like [`open_or_create`](Store::open_or_create), but uses only `bytes` of each head of the journal,
    /// so that heads fill up often in tests.
    ///
    /// # Errors
    /// Returns the errors of [`open_or_create`](Store::open_or_create).
    #[doc(hidden)]
    pub fn open_or_create_with_heads_of(dir: &Path, bytes: usize) -> Result<Self, StoreError> {
        open_or_create(dir, bytes, &mut |_, _| {}).map(Self::of)
    }

    /// Creates an empty store in memory.
    ///
    /// # Panics
    /// Never: memory does not fail.
    #[must_use]
    pub fn in_memory() -> Self {
        Self::of(in_memory())
    }

    /// Opens the store in a backend. If the backend is empty, it creates the store first.
    ///
    /// # Errors
    /// Returns any error of the backend, or [`StoreError::Corrupt`].
    #[doc(hidden)]
    pub fn with_backend(backend: Box<dyn Backend>) -> Result<Self, StoreError> {
        open_backend(backend).map(Self::of)
    }

    pub(crate) fn of(engine: impl Engine + 'static) -> Self {
        let reader = StoreReader { engine: engine.reader() };
        Self { engine: Box::new(engine), reader }
    }

    /// Keeps the state after an entry as a snapshot, if the entry is due for one and the store keeps snapshots.
    ///
    /// # Errors
    /// Returns any error of [`entries`](crate::StoreReader::entries). A failure to write the snapshot is only logged.
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

    /// Returns how many bytes are free for this user on the file system of a store's directory; `None` on systems that
    /// can be asked only with unsafe code.
    ///
    /// # Errors
    /// Returns [`StoreError::Io`] if the system does not know.
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

    /// Closes the store. On disk, the journal then records where it ends, so that missing commits at the end are
    /// noticed.
    ///
    /// # Errors
    /// Returns the error that kept the store from closing cleanly. Everything acknowledged is durable all the same.
    pub fn close(self) -> Result<(), StoreError> {
        let Self { engine, reader } = self;
        drop(reader);
        engine.close()
    }

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
