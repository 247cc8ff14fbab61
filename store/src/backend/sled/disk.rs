//! Records on disk, in sled.

use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{PoisonError, RwLock};

use super::closing::OpenDb;
use super::guard::guarded;
use super::guarded_open::SoundFiles;
use super::opening::{drop_unfinished_snapshots, open_anew, open_sled};
use super::pieces;
use super::read_only::ReadOnlyBackend;
use super::renewal::renew_snapshot;
use super::syncing::{Syncing, has_failed};
use crate::backend::{Backend, BackendError, RecordChange, StoredRecord, Watermark};
use crate::dir::lock::Lock;
use crate::dir::places::{SLED_DIR, WATERMARK_FILE};
use crate::dir::private::{self, sync_dir};
use crate::dir::watermark::WatermarkFile;
use crate::error::StoreError;

/// Records in sled under a store's directory, and the watermark file.
pub struct DiskBackend {
    // The order is that of closing: sled first, the lock on the directory last.
    db: OpenDb,
    watermark: WatermarkFile,
    syncing: Syncing,
    /// Held while a batch is applied, and by readers while they put a value together from its pieces.
    pieces: RwLock<()>,
    sled_dir: PathBuf,
    /// Whether anything failed, after which nobody knows how much of the log is on disk.
    has_failed: AtomicBool,
    _lock: Lock,
}

impl DiskBackend {
    /// Opens sled's files in `dir`, on which `lock` holds the lock, if they are sound and `admit` finds their records to
    /// be so; otherwise they stay as they are.
    pub(crate) fn open(
        dir: &Path,
        lock: Lock,
        admit: impl FnOnce(ReadOnlyBackend) -> Result<(), StoreError>,
    ) -> Result<Self, StoreError> {
        let sled_dir = dir.join(SLED_DIR);
        let at = dir.join(WATERMARK_FILE);
        let watermark = WatermarkFile::at(at.clone());
        let told = |error| watermark.explain(error);
        let files = SoundFiles::read(&sled_dir).map_err(told)?;
        admit(ReadOnlyBackend::of(files.log(), WatermarkFile::at(at)))?;
        // Nothing may fail any more once sled has opened.
        let syncing = Syncing::of(&sled_dir.join("db"))?;
        let db = files.open(|| open_sled(&sled_dir)).map_err(told)?;
        Ok(Self::of(db, watermark, syncing, sled_dir, lock))
    }

    /// Creates sled's files in `dir`, on which `lock` holds the lock, or opens what is there as sled does, which may
    /// destroy what is damaged: for a store in which nothing is committed yet, and for copies.
    pub(crate) fn open_or_create(dir: &Path, lock: Lock) -> Result<Self, BackendError> {
        let sled_dir = dir.join(SLED_DIR);
        let is_new = !sled_dir.join("db").metadata().is_ok_and(|found| found.len() > 0);
        private::create_dir(&sled_dir).map_err(|source| BackendError::io("create", &sled_dir, source))?;
        let watermark = WatermarkFile::at(dir.join(WATERMARK_FILE));
        drop_unfinished_snapshots(&sled_dir)
            .map_err(|source| BackendError::io("remove an unfinished snapshot in", &sled_dir, source))?;
        let opened = match open_sled(&sled_dir) {
            Err(BackendError::Damaged(_)) if !watermark.exists() => open_anew(&sled_dir),
            opened => opened,
        };
        let db = opened.map_err(|error| watermark.explain(error))?;
        let syncing = Syncing::of(&sled_dir.join("db"))?;
        let backend = Self::of(OpenDb::new(db), watermark, syncing, sled_dir, lock);
        if is_new {
            backend.settle(dir)?;
        }
        Ok(backend)
    }

    fn of(db: OpenDb, watermark: WatermarkFile, syncing: Syncing, sled_dir: PathBuf, lock: Lock) -> Self {
        let (pieces, has_failed) = (RwLock::default(), AtomicBool::new(false));
        Self { db, watermark, syncing, pieces, sled_dir, has_failed, _lock: lock }
    }

    /// Goes on as in a build in which sled's sync is not bound to `fdatasync`.
    pub(crate) fn unbound(self) -> Self {
        self.syncing.distrust_binding();
        self
    }

    /// Makes the names and first contents of new files durable, and keeps everyone but their owner out.
    fn settle(&self, dir: &Path) -> Result<(), BackendError> {
        let sled_dir = &self.sled_dir;
        self.db.flush()?;
        let synced = (|| {
            for file in ["db", "conf"] {
                private::restrict(&sled_dir.join(file))?;
                File::open(sled_dir.join(file))?.sync_all()?;
            }
            sync_dir(sled_dir)?;
            sync_dir(dir)
        })();
        synced.map_err(|source| BackendError::io("sync", sled_dir, source))
    }
}

impl DiskBackend {
    /// Passes an answer on, and notes that something failed.
    fn noted<T>(&self, answer: Result<T, BackendError>) -> Result<T, BackendError> {
        self.has_failed.fetch_or(answer.is_err(), Ordering::Relaxed);
        answer
    }

    /// Returns the value of a record from what was stored under its key a moment ago; `None` when it has gone since.
    fn value(&self, key: &[u8], stored: &[u8]) -> Result<Option<Vec<u8>>, BackendError> {
        if pieces::count(stored).is_none() {
            return Ok(Some(stored.to_vec()));
        }
        // The pieces are several records: no batch may come between them.
        let _no_batch = self.pieces.read().unwrap_or_else(PoisonError::into_inner);
        let read = |key: &[u8]| guarded("read", || Ok(self.db.get(key)?.map(|found| found.to_vec())));
        read(key)?.map(|stored| pieces::join(key, &stored, read)).transpose()
    }

    /// Returns the batch that makes changes, and about how many bytes it writes.
    fn batch(&self, changes: &[RecordChange]) -> Result<(sled::Batch, usize), BackendError> {
        let (mut batch, mut bytes) = (sled::Batch::default(), 0);
        for RecordChange { key, value } in changes {
            // A value that was in pieces may now need fewer of them, or none.
            let before = guarded("read", || self.db.get(key))?;
            for number in 0..before.and_then(|stored| pieces::count(&stored)).unwrap_or(0) {
                batch.remove(pieces::key_of(key, number));
            }
            match value {
                Some(value) => {
                    for (key, part) in pieces::cut(key, value) {
                        bytes += key.len() + part.len();
                        batch.insert(key, part);
                    }
                }
                None => batch.remove(key.as_slice()),
            }
        }
        Ok((batch, bytes))
    }
}

impl Backend for DiskBackend {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, BackendError> {
        let stored = guarded("read", || self.db.get(key))?;
        stored.map_or(Ok(None), |stored| self.value(key, &stored))
    }

    fn scan(&self, range: &Range<Vec<u8>>, limit: usize) -> Result<Vec<StoredRecord>, BackendError> {
        if range.start >= range.end {
            return Ok(Vec::new());
        }
        let found: Vec<_> =
            guarded("read", || self.db.range(range.clone()).take(limit).collect::<Result<_, _>>())?;
        let values = found.into_iter().map(|(key, stored)| Ok((key.to_vec(), self.value(&key, &stored)?)));
        values.filter_map(|record| record.map(|(key, value)| Some((key, value?))).transpose()).collect()
    }

    fn last(&self, range: &Range<Vec<u8>>) -> Result<Option<StoredRecord>, BackendError> {
        if range.start >= range.end {
            return Ok(None);
        }
        let mut end = range.end.clone();
        loop {
            let found = guarded("read", || self.db.get_lt(&end))?;
            let found = found.filter(|(key, _)| key.as_ref() >= range.start.as_slice());
            let Some((key, stored)) = found else { return Ok(None) };
            if let Some(value) = self.value(&key, &stored)? {
                return Ok(Some((key.to_vec(), value)));
            }
            end = key.to_vec();
        }
    }

    fn write(&self, changes: &[RecordChange]) -> Result<(), BackendError> {
        let (batch, bytes) = self.batch(changes)?;
        if self.syncing.begin_write(bytes) {
            self.flush()?;
            self.syncing.begin_write(bytes);
        }
        let _no_reader = self.pieces.write().unwrap_or_else(PoisonError::into_inner);
        self.noted(guarded("write", || self.db.apply_batch(batch)))
    }

    fn flush(&self) -> Result<(), BackendError> {
        // Once a sync has failed nobody knows what is on disk, also where the reason is a full disk.
        let flushed = self.db.flush().map_err(|error| match error {
            BackendError::Io { source, .. } if has_failed() => BackendError::Unsynced { source },
            error => error,
        });
        self.noted(flushed.and_then(|()| self.syncing.end_flush()))
    }

    fn watermark(&self) -> Result<Option<Watermark>, BackendError> {
        self.watermark.read()
    }

    fn watermark_damage(&self) -> Result<Option<String>, BackendError> {
        self.watermark.damage()
    }

    fn set_watermark(&self, watermark: &Watermark) -> Result<(), BackendError> {
        if self.watermark.is_whole() {
            self.watermark.replace(watermark)
        } else {
            self.watermark.create(watermark)
        }
    }

    fn close(mut self: Box<Self>) -> Result<(), BackendError> {
        self.flush()?;
        let closed = self.db.close();
        self.noted(closed)
    }
}

impl Drop for DiskBackend {
    fn drop(&mut self) {
        match self.db.close() {
            Ok(()) if !self.has_failed.load(Ordering::Relaxed) => renew_snapshot(&self.sled_dir),
            Ok(()) => {}
            Err(error) => {
                tracing::warn!(%error, "the store did not close cleanly; what was acknowledged is safe");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn backend(dir: &Path) -> DiskBackend {
        DiskBackend::open_or_create(dir, Lock::take(dir).unwrap()).unwrap()
    }

    fn filler(length: usize) -> Vec<u8> {
        length.to_le_bytes().into_iter().cycle().take(length).collect()
    }

    fn put(key: &[u8], length: usize) -> RecordChange {
        RecordChange { key: key.to_vec(), value: Some(filler(length)) }
    }

    #[test]
    fn a_long_value_is_read_whole_while_it_is_replaced_and_removed() {
        let dir = tempfile::tempdir().unwrap();
        let backend = backend(dir.path());
        let lengths = [20_000, 20_001, 30_000, 7];
        let is_whole = |value: &Vec<u8>| lengths.contains(&value.len()) && *value == filler(value.len());
        let range = b"a".to_vec()..b"b".to_vec();
        std::thread::scope(|scope| {
            let writer = scope.spawn(|| {
                for length in lengths.into_iter().cycle().take(100) {
                    backend.write(&[put(b"a", length)]).unwrap();
                    backend.write(&[RecordChange { key: b"a".to_vec(), value: None }]).unwrap();
                    // As the store does: too much unflushed at once can make sled wait for itself for ever.
                    backend.flush().unwrap();
                }
            });
            while !writer.is_finished() {
                let scanned = backend.scan(&range, 9).unwrap().pop();
                let found =
                    [scanned, backend.last(&range).unwrap()].map(|record| record.map(|(_, value)| value));
                let found = found.into_iter().chain([backend.get(b"a").unwrap()]);
                assert!(found.flatten().all(|value| is_whole(&value)));
            }
        });
    }

    #[test]
    fn long_values_come_back_whole_and_leave_nothing_behind() {
        let dir = tempfile::tempdir().unwrap();
        let backend = backend(dir.path());
        for length in [9, 200_000, 5_000, 70_000, 12] {
            backend.write(&[put(b"a", length), put(b"b", 8), put(b"c", length)]).unwrap();
            let value = filler(length);
            assert_eq!(backend.get(b"a").unwrap(), Some(value.clone()));
            let range = b"a".to_vec()..b"c".to_vec();
            let expected = [(b"a".to_vec(), value.clone()), (b"b".to_vec(), filler(8))];
            assert_eq!(backend.scan(&range, 9).unwrap(), expected);
            assert_eq!(backend.last(&(b"c".to_vec()..b"d".to_vec())).unwrap(), Some((b"c".to_vec(), value)));
        }
        assert_eq!(backend.db.len(), 3);
        backend.write(&[put(b"a", 70_000)]).unwrap();
        let removals = [b"a", b"b", b"c"].map(|key| RecordChange { key: key.to_vec(), value: None });
        backend.write(&removals).unwrap();
        assert!(backend.db.is_empty());
    }
}
