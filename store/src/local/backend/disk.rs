//! Records on disk: an index, and on top the commits that only the heads of the journal have.

use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::base::Base;
use super::layered::Layered;
use super::writing::Writing;
use super::{Backend, BackendError, RecordChange, StoredRecord};
use crate::local::compare::compare;
use crate::local::dir::files::Places;
use crate::local::dir::lock::Locks;
use crate::local::index::open_index::{OnBuilding, OpenedIndex, keep_only, open_or_build};
use crate::local::index::tree::IndexTree;
use crate::local::journal::image::Image;
use crate::local::journal::writer::JournalWriter;

/// The records in a store's directory.
pub(crate) struct DiskBackend {
    records: Arc<Layered>,
    /// `None` if the store is open for reading only.
    writing: Option<Mutex<Writing>>,
    places: Places,
    _locks: Locks,
}

impl DiskBackend {
    /// Opens the records of a store for reading, from a sound index (ST-16).
    pub(crate) fn for_reading(
        places: &Places,
        image: &Image,
        (tree, locks): (IndexTree, Locks),
    ) -> Result<Self, BackendError> {
        let records = Layered::over(Base::of(tree, places.clone(), image.packed.number));
        records.replay(image.tail.iter().map(|(_, frame)| frame))?;
        Ok(Self { records: Arc::new(records), writing: None, places: places.clone(), _locks: locks })
    }

    /// Opens the records of a store for writing (ST-15). Only `head_bytes` of each head are used for frames.
    pub(crate) fn open(
        places: &Places,
        image: &Image,
        (locks, head_bytes): (Locks, usize),
        observe: OnBuilding<'_>,
    ) -> Result<Self, BackendError> {
        let journal = JournalWriter::open(image, head_bytes)?;
        let (tree, is_built) = match open_or_build(&places.sled, image, observe)? {
            OpenedIndex::Sound(tree) => (tree, false),
            OpenedIndex::Built(tree) => (tree, true),
        };
        let records = Arc::new(Layered::over(Base::of(tree, places.clone(), image.packed.number)));
        let writing = Writing::begin(Arc::clone(&records), journal, image, is_built)?;
        // Earlier indexes are removed only now, because the new one must be complete first.
        keep_only(&places.sled, records.index());
        Ok(Self { records, writing: Some(Mutex::new(writing)), places: places.clone(), _locks: locks })
    }
}

fn lock(writing: &Mutex<Writing>) -> MutexGuard<'_, Writing> {
    writing.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Backend for DiskBackend {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, BackendError> {
        self.records.get(key)
    }

    fn get_all(&self, keys: &[Vec<u8>]) -> Result<Vec<Option<Vec<u8>>>, BackendError> {
        self.records.get_all(keys)
    }

    fn scan(&self, range: &Range<Vec<u8>>, limit: usize) -> Result<Vec<StoredRecord>, BackendError> {
        self.records.scan(range, limit)
    }

    fn last(&self, range: &Range<Vec<u8>>) -> Result<Option<StoredRecord>, BackendError> {
        self.records.last(range)
    }

    fn commit(&self, body: Vec<u8>, changes: Vec<RecordChange>) -> Result<(), BackendError> {
        match &self.writing {
            Some(writing) => lock(writing).commit(body, changes),
            None => self.write(&changes),
        }
    }

    fn compare(&self) -> Result<Vec<String>, BackendError> {
        let _no_commit = self.writing.as_ref().map(lock);
        compare(&self.places, self, self.records.index())
    }

    fn journal(&self) -> Option<&Path> {
        Some(&self.places.journal)
    }

    fn close(self: Box<Self>) -> Result<(), BackendError> {
        self.writing.as_ref().map_or(Ok(()), |writing| lock(writing).close())
    }
}

impl Drop for DiskBackend {
    fn drop(&mut self) {
        let Some(writing) = &self.writing else { return };
        // The error does no harm to acknowledged commits: a journal that was not closed can still be read.
        if let Err(error) = lock(writing).close() {
            tracing::warn!(%error, "the store did not close cleanly; what was acknowledged is safe");
        }
    }
}
