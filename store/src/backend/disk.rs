//! Records on disk, in sled.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::Duration;

use super::guard::guarded;
use super::watermark::{WatermarkFile, sync_dir};
use super::{Backend, BackendError, Change, Place, Record, Watermark};

/// The folder of sled's files in a store's directory.
pub(crate) const SLED_DIR: &str = "sled";

/// The file beside it that tells how much there should be.
pub(crate) const WATERMARK_FILE: &str = "WATERMARK";

const CACHE_BYTES: u64 = 64 * 1024 * 1024;

/// How often, and how long apart, opening is tried while an earlier handle of this process lets go of sled's own lock.
const LOCK_TRIES: u32 = 200;
const LOCK_PAUSE: Duration = Duration::from_millis(10);

/// Records in sled under a store's directory, and the watermark file.
pub struct DiskBackend {
    // The order is that of closing: sled first, the lock on the directory last.
    db: sled::Db,
    watermark: WatermarkFile,
    sled_file: PathBuf,
    sync: Mutex<Syncing>,
    _lock: File,
}

/// Who makes sled's writes durable.
enum Syncing {
    /// Our `sync_file_range`; so many calls had been counted before the writes that are not flushed yet.
    Bound { calls_before: Option<u64> },
    /// A second handle on sled's file, because nothing was bound.
    Handle(File),
}

impl DiskBackend {
    /// Opens or creates sled's files in `dir`, on which `lock` holds the lock.
    pub(crate) fn open(dir: &Path, lock: File) -> Result<Self, BackendError> {
        let sled_dir = dir.join(SLED_DIR);
        let is_new = !sled_dir.join("db").exists();
        let watermark = WatermarkFile::at(dir.join(WATERMARK_FILE));
        drop_unfinished_snapshots(&sled_dir)
            .map_err(|source| failed("remove an unfinished snapshot in", &sled_dir, source))?;
        let db = open_sled(&sled_dir).map_err(|error| tell_what_was_there(error, &watermark))?;
        let sync = Mutex::new(Syncing::Bound { calls_before: None });
        let backend = Self { db, watermark, sled_file: sled_dir.join("db"), sync, _lock: lock };
        if is_new {
            backend.settle(dir, &sled_dir)?;
        }
        Ok(backend)
    }

    /// Makes the names and first contents of new files durable.
    fn settle(&self, dir: &Path, sled_dir: &Path) -> Result<(), BackendError> {
        guarded("flush", || self.db.flush())?;
        let synced = (|| {
            for file in ["db", "conf"] {
                File::open(sled_dir.join(file))?.sync_all()?;
            }
            sync_dir(sled_dir)?;
            sync_dir(dir)
        })();
        synced.map_err(|source| failed("sync", sled_dir, source))
    }
}

/// Adds to damage that keeps everything from being read what the watermark still knows.
fn tell_what_was_there(error: BackendError, watermark: &WatermarkFile) -> BackendError {
    let last = watermark.read().ok().flatten().and_then(|watermark| watermark.last);
    match (error, last) {
        (BackendError::Damaged(reason), Some(Place { match_name, branch, seq })) => {
            let held =
                format!("it held match `{match_name}`, branch `{branch}`, up to entry {seq}, and maybe more");
            BackendError::Damaged(format!("{reason}; {held}"))
        }
        (error, _) => error,
    }
}

/// Removes snapshots that sled was writing when its process was killed.
///
/// sled writes a snapshot as `snap.N.generating` and renames it when it is whole, but takes any file that begins with
/// `snap.` for a whole one: an unfinished one keeps it from opening. A snapshot only spares reading the log, and the
/// one before it stays until the rename, so nothing is lost.
fn drop_unfinished_snapshots(sled_dir: &Path) -> io::Result<()> {
    if !sled_dir.exists() {
        return Ok(());
    }
    for file in std::fs::read_dir(sled_dir)? {
        let file = file?;
        let name = file.file_name();
        let name = name.to_string_lossy();
        if name.starts_with("snap.") && name.ends_with(".generating") {
            tracing::info!(%name, "removing a snapshot that was being written when a process ended");
            std::fs::remove_file(file.path())?;
        }
    }
    Ok(())
}

fn open_sled(sled_dir: &Path) -> Result<sled::Db, BackendError> {
    let config = sled::Config::new().path(sled_dir).cache_capacity(CACHE_BYTES).use_compression(false);
    let action = format!("open `{}`", sled_dir.display());
    let mut tries = 1;
    loop {
        match guarded(&action, || config.open()) {
            Err(BackendError::Io { source, .. }) if tries < LOCK_TRIES && is_lock_error(&source) => {
                tries += 1;
                std::thread::sleep(LOCK_PAUSE);
            }
            answer => return answer,
        }
    }
}

/// Tells whether sled found its own lock taken, for which it has no error of its own.
fn is_lock_error(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::Other && error.to_string().starts_with("could not acquire lock")
}

#[cfg(target_os = "linux")]
use super::durable::calls;

/// Elsewhere nothing is bound, so the second handle is used from the first flush on.
#[cfg(not(target_os = "linux"))]
fn calls() -> u64 {
    0
}

fn open_for_sync(db: &Path) -> Result<File, BackendError> {
    File::options().read(true).write(true).open(db).map_err(|source| failed("open", db, source))
}

fn failed(action: &str, path: &Path, source: io::Error) -> BackendError {
    BackendError::Io { action: format!("{action} `{}`", path.display()), source }
}

impl DiskBackend {
    fn sync(&self) -> Result<(), BackendError> {
        let mut sync = self.sync.lock().unwrap_or_else(PoisonError::into_inner);
        match &mut *sync {
            Syncing::Bound { calls_before } => match calls_before.take() {
                Some(before) if calls() <= before => {
                    tracing::warn!(
                        "sled's sync is not bound to fdatasync in this build; syncing its file ourselves"
                    );
                    let handle = open_for_sync(&self.sled_file)?;
                    handle.sync_data().map_err(|source| failed("sync", &self.sled_file, source))?;
                    *sync = Syncing::Handle(handle);
                    Ok(())
                }
                _ => Ok(()),
            },
            Syncing::Handle(handle) => {
                handle.sync_data().map_err(|source| failed("sync", &self.sled_file, source))
            }
        }
    }
}

impl Backend for DiskBackend {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, BackendError> {
        guarded("read", || Ok(self.db.get(key)?.map(|value| value.to_vec())))
    }

    fn scan(&self, range: &Range<Vec<u8>>, limit: usize) -> Result<Vec<Record>, BackendError> {
        if range.start >= range.end {
            return Ok(Vec::new());
        }
        guarded("read", || {
            let found = self.db.range(range.clone()).take(limit);
            found.map(|record| record.map(|(key, value)| (key.to_vec(), value.to_vec()))).collect()
        })
    }

    fn last(&self, range: &Range<Vec<u8>>) -> Result<Option<Record>, BackendError> {
        if range.start >= range.end {
            return Ok(None);
        }
        guarded("read", || {
            let found = self.db.get_lt(&range.end)?.filter(|(key, _)| key.as_ref() >= range.start.as_slice());
            Ok(found.map(|(key, value)| (key.to_vec(), value.to_vec())))
        })
    }

    fn write(&self, changes: &[Change]) -> Result<(), BackendError> {
        if let Syncing::Bound { calls_before } =
            &mut *self.sync.lock().unwrap_or_else(PoisonError::into_inner)
        {
            calls_before.get_or_insert_with(calls);
        }
        let mut batch = sled::Batch::default();
        for change in changes {
            match &change.value {
                Some(value) => batch.insert(change.key.as_slice(), value.as_slice()),
                None => batch.remove(change.key.as_slice()),
            }
        }
        guarded("write", || self.db.apply_batch(batch))
    }

    fn flush(&self) -> Result<(), BackendError> {
        guarded("flush", || self.db.flush())?;
        self.sync()
    }

    fn watermark(&self) -> Result<Option<Watermark>, BackendError> {
        self.watermark.read()
    }

    fn set_watermark(&self, watermark: &Watermark) -> Result<(), BackendError> {
        if self.watermark.exists() {
            self.watermark.replace(watermark)
        } else {
            self.watermark.create(watermark)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn backend(dir: &Path) -> DiskBackend {
        let lock = File::create(dir.join("LOCK")).unwrap();
        DiskBackend::open(dir, lock).unwrap()
    }

    fn put(value: u8) -> [Change; 1] {
        [Change { key: vec![1], value: Some(vec![value]) }]
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn every_flush_reaches_fdatasync_through_the_bound_symbol() {
        let dir = tempfile::tempdir().unwrap();
        let backend = backend(dir.path());
        for value in 0..10 {
            let before = calls();
            backend.write(&put(value)).unwrap();
            backend.flush().unwrap();
            assert!(calls() > before);
        }
        assert!(matches!(*backend.sync.lock().unwrap(), Syncing::Bound { calls_before: None }));
    }

    #[test]
    fn without_the_symbol_a_second_handle_syncs() {
        let dir = tempfile::tempdir().unwrap();
        let backend = backend(dir.path());
        backend.write(&put(1)).unwrap();
        // As if no call had been counted since.
        *backend.sync.lock().unwrap() = Syncing::Bound { calls_before: Some(u64::MAX) };
        backend.flush().unwrap();
        assert!(matches!(*backend.sync.lock().unwrap(), Syncing::Handle(_)));
        backend.write(&put(2)).unwrap();
        backend.flush().unwrap();
        assert_eq!(backend.get(&[1]).unwrap(), Some(vec![2]));
    }
}
