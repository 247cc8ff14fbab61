//! Records on disk: in sled, and over it the commits that only the journal has.

use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use super::closing::OpenDb;
use super::guarded_open::SoundFiles;
use super::journal::{Journal, Loaded};
use super::opening::{drop_unfinished_snapshots, open_anew, open_sled};
use super::overlay::Overlay;
use super::read_only::ReadOnlyBackend;
use super::renewal::renew_snapshot;
use super::syncing::Syncing;
use super::tree::Tree;
use crate::error::StoreError;
use crate::local::backend::{Backend, BackendError, RecordChange, StoredRecord, Watermark};
use crate::local::dir::format;
use crate::local::dir::lock::Lock;
use crate::local::dir::places::{SLED_DIR, WATERMARK_FILE};
use crate::local::dir::private::{self, sync_dir};
use crate::local::dir::watermark::WatermarkFile;
use crate::local::layout::{key, record};

/// Records in sled and the journal under a store's directory, and the watermark file.
pub struct DiskBackend {
    // The order is that of closing: sled first, the lock on the directory last.
    tree: Tree,
    /// What is not in sled yet.
    overlay: Overlay,
    journal: Journal,
    watermark: WatermarkFile,
    sled_dir: PathBuf,
    /// Whether anything was written since the store was opened.
    has_written: AtomicBool,
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
        let loaded = files.journal().clone();
        admit(ReadOnlyBackend::of(files.log(), &loaded, WatermarkFile::at(at)))?;
        // Nothing may fail any more once sled has opened.
        let syncing = Syncing::of(&sled_dir.join("db"))?;
        let journal = Journal::open(&sled_dir, &loaded)?;
        format::renew(dir)?;
        let db = files.open(|| open_sled(&sled_dir)).map_err(told)?;
        Ok(Self::of(Tree::of(db, syncing), (journal, loaded), watermark, sled_dir, lock))
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
        let tree = Tree::of(OpenDb::new(db), Syncing::of(&sled_dir.join("db"))?);
        let loaded = Loaded::read(&sled_dir, tree.get(key::STORE)?.as_deref())?;
        let journal = Journal::open(&sled_dir, &loaded)?;
        let backend = Self::of(tree, (journal, loaded), watermark, sled_dir, lock);
        if is_new {
            backend.settle_names(dir)?;
        }
        Ok(backend)
    }

    fn of(
        tree: Tree,
        (journal, loaded): (Journal, Loaded),
        watermark: WatermarkFile,
        sled_dir: PathBuf,
        lock: Lock,
    ) -> Self {
        let overlay = Overlay::of(loaded.changes);
        let (has_written, has_failed) = (AtomicBool::new(false), AtomicBool::new(false));
        Self { tree, overlay, journal, watermark, sled_dir, has_written, has_failed, _lock: lock }
    }

    /// Goes on as in a build in which sled's sync is not bound to `fdatasync`.
    pub(crate) fn unbound(self) -> Self {
        self.tree.distrust_binding();
        self
    }

    /// Uses only so many bytes of the journal, so that tests see it full.
    pub(crate) fn with_journal_of(self, bytes: usize) -> Self {
        self.journal.limit(bytes);
        self
    }

    /// Makes the names and first contents of new files durable, and keeps everyone but their owner out.
    fn settle_names(&self, dir: &Path) -> Result<(), BackendError> {
        let sled_dir = &self.sled_dir;
        self.tree.flush()?;
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

    /// Moves everything that is not in sled yet into it, durably, so that the journal can begin anew.
    fn settle(&self) -> Result<(), BackendError> {
        let changes = self.overlay.to_changes();
        if changes.is_empty() {
            return Ok(());
        }
        let settled = self.tree.write(&changes).and_then(|()| self.tree.flush());
        self.noted(settled)?;
        // Without a commit the store record is as it was.
        let stored = changes.iter().find(|change| change.key == key::STORE);
        let record = stored.and_then(|change| record::read_store(change.value.as_deref()?));
        self.journal.restart(record.map(|record| record.now.digest));
        self.overlay.clear();
        Ok(())
    }

    /// Passes an answer on, and notes that something failed.
    fn noted<T>(&self, answer: Result<T, BackendError>) -> Result<T, BackendError> {
        self.has_failed.fetch_or(answer.is_err(), Ordering::Relaxed);
        answer
    }
}

impl Backend for DiskBackend {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, BackendError> {
        self.overlay.get(key, || self.tree.get(key))
    }

    fn scan(&self, range: &Range<Vec<u8>>, limit: usize) -> Result<Vec<StoredRecord>, BackendError> {
        self.overlay.scan(range, limit, |range, limit| self.tree.scan(range, limit))
    }

    fn last(&self, range: &Range<Vec<u8>>) -> Result<Option<StoredRecord>, BackendError> {
        self.overlay.last(range, |range| self.tree.last(range))
    }

    fn commit(&self, changes: Vec<RecordChange>) -> Result<(), BackendError> {
        self.has_written.store(true, Ordering::Relaxed);
        if self.noted(self.journal.append(&changes))? {
            self.overlay.add(changes);
            return Ok(());
        }
        self.overlay.add(changes);
        self.settle()
    }

    fn wants_flush(&self) -> bool {
        self.journal.is_nearly_full()
    }

    fn write(&self, changes: &[RecordChange]) -> Result<(), BackendError> {
        self.has_written.store(true, Ordering::Relaxed);
        self.overlay.add(changes.iter().cloned());
        self.journal.prepare(changes);
        Ok(())
    }

    fn flush(&self) -> Result<(), BackendError> {
        // Who only reads leaves the files as they are.
        if self.has_written.load(Ordering::Relaxed) { self.settle() } else { Ok(()) }
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
        let closed = self.tree.close();
        self.noted(closed)
    }
}

impl Drop for DiskBackend {
    fn drop(&mut self) {
        match self.tree.close() {
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
                    backend.flush().unwrap();
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
            backend.flush().unwrap();
            assert_eq!(backend.get(b"a").unwrap(), Some(value.clone()));
            let range = b"a".to_vec()..b"c".to_vec();
            let expected = [(b"a".to_vec(), value.clone()), (b"b".to_vec(), filler(8))];
            assert_eq!(backend.scan(&range, 9).unwrap(), expected);
            assert_eq!(backend.last(&(b"c".to_vec()..b"d".to_vec())).unwrap(), Some((b"c".to_vec(), value)));
        }
        assert_eq!(backend.tree.count(), 3);
        backend.write(&[put(b"a", 70_000)]).unwrap();
        backend.flush().unwrap();
        let removals = [b"a", b"b", b"c"].map(|key| RecordChange { key: key.to_vec(), value: None });
        backend.write(&removals).unwrap();
        backend.flush().unwrap();
        assert_eq!(backend.tree.count(), 0);
    }
}
