//! Records on disk, read without sled and without writing anything.

use std::io;
use std::ops::Range;
use std::sync::Arc;

use super::journal::Loaded;
use super::log::LogReader;
use super::overlay::Overlay;
use crate::local::backend::{Backend, BackendError, RecordChange, StoredRecord, Watermark};
use crate::local::dir::lock::SharedLock;
use crate::local::dir::places::Places;
use crate::local::dir::watermark::WatermarkFile;
use crate::local::layout::key;

/// What lies in a store's directory, which nobody changes meanwhile.
pub(crate) struct ReadOnlyBackend {
    log: Arc<LogReader>,
    /// The commits that only the journal has.
    overlay: Overlay,
    watermark: WatermarkFile,
    _lock: Option<SharedLock>,
}

impl ReadOnlyBackend {
    /// Reads where everything lies.
    pub(crate) fn open(places: &Places, lock: Option<SharedLock>) -> Result<Self, BackendError> {
        let watermark = WatermarkFile::at(places.watermark.clone());
        let opened = LogReader::open(&places.sled).and_then(|log| {
            let stored = log.get(key::STORE)?;
            let journal = Loaded::read(&places.sled, stored.as_deref())?.require_sound()?;
            log.require_all_commits(&log.loose()?, journal.commits)?;
            Ok((log, journal))
        });
        let (log, journal) = opened.map_err(|error| watermark.explain(error))?;
        Ok(Self { log: Arc::new(log), overlay: Overlay::of(journal.changes), watermark, _lock: lock })
    }

    /// Reads what a reader has found that somebody else holds the lock for.
    pub(super) fn of(log: &Arc<LogReader>, journal: &Loaded, watermark: WatermarkFile) -> Self {
        let overlay = Overlay::of(journal.changes.clone());
        Self { log: Arc::clone(log), overlay, watermark, _lock: None }
    }
}

impl Backend for ReadOnlyBackend {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, BackendError> {
        self.overlay.get(key, || self.log.get(key))
    }

    fn scan(&self, range: &Range<Vec<u8>>, limit: usize) -> Result<Vec<StoredRecord>, BackendError> {
        self.overlay.scan(range, limit, |range, limit| self.log.scan(range, limit))
    }

    fn last(&self, range: &Range<Vec<u8>>) -> Result<Option<StoredRecord>, BackendError> {
        self.overlay.last(range, |range| self.log.last(range))
    }

    fn write(&self, _changes: &[RecordChange]) -> Result<(), BackendError> {
        Err(read_only())
    }

    fn flush(&self) -> Result<(), BackendError> {
        Err(read_only())
    }

    fn watermark(&self) -> Result<Option<Watermark>, BackendError> {
        self.watermark.read()
    }

    fn watermark_damage(&self) -> Result<Option<String>, BackendError> {
        self.watermark.damage()
    }

    fn doubt(&self) -> Option<BackendError> {
        self.log.doubt()
    }

    fn set_watermark(&self, _watermark: &Watermark) -> Result<(), BackendError> {
        Err(read_only())
    }
}

fn read_only() -> BackendError {
    let source = io::Error::new(io::ErrorKind::ReadOnlyFilesystem, "it was opened for reading only");
    BackendError::Io { action: "write to the store".to_owned(), source }
}
