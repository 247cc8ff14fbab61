//! Renewing sled's snapshot when a store is closed.
//!
//! sled writes its snapshot only while it opens, and what only reads never opens sled: after much was committed, every
//! reader would go through all of that part of the log. So whoever committed it leaves the snapshot that sled would
//! write next. It only spares reading, so trouble with it is no error.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use super::closing::lock_released;
use super::guarded_open::write_next_snapshot;
use super::log::{LogReader, segments_since_snapshot, snapshot_paths};
use crate::local::backend::BackendError;

/// So many segments of the log may follow the snapshot: reading them takes a few milliseconds.
const SEGMENTS_MAX: u64 = 4;

/// Writes the snapshot that sled would write, if the log goes on far behind the newest. sled must have been closed.
pub(super) fn renew_snapshot(sled_dir: &Path) {
    if let Err(error) = renew(sled_dir) {
        tracing::debug!(%error, "sled's snapshot was not renewed");
    }
}

fn renew(sled_dir: &Path) -> Result<(), BackendError> {
    if segments_since_snapshot(sled_dir)? <= SEGMENTS_MAX {
        return Ok(());
    }
    let db = sled_dir.join("db");
    let released = File::open(&db).and_then(|file| Ok((lock_released(&file)?, file)));
    // The lock goes with the file.
    let (is_released, _locked) = released.map_err(|source| BackendError::io("lock", &db, source))?;
    if !is_released {
        let source = io::Error::new(io::ErrorKind::ResourceBusy, "sled still uses it");
        return Err(BackendError::io("lock", &db, source));
    }
    let log = LogReader::open(sled_dir)?;
    write_next_snapshot(sled_dir, &log)?;
    let newest = sled_dir.join(log.snapshot_name());
    for old in snapshot_paths(sled_dir)?.iter().filter(|path| **path < newest) {
        fs::remove_file(old).map_err(|source| BackendError::io("remove", old, source))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::local::backend::sled::disk::DiskBackend;
    use crate::local::backend::{Backend, RecordChange};
    use crate::local::dir::lock::Lock;
    use crate::local::dir::places::SLED_DIR;

    /// Records that take more segments than may follow a snapshot, and records that take fewer.
    const MANY: u64 = 40;
    const FEW: u64 = 4;

    /// Opens the records in `dir`, adds so many of some length, and returns the records.
    fn write(dir: &Path, count: u64) -> Box<DiskBackend> {
        let backend = DiskBackend::open_or_create(dir, Lock::take(dir).unwrap()).unwrap();
        let held = backend.scan(&(vec![0]..vec![u8::MAX]), usize::MAX).unwrap().len() as u64;
        for key in (held..held + count).map(|number| number.to_be_bytes().to_vec()) {
            let value = Some(key.iter().copied().cycle().take(60_000).collect());
            backend.write(&[RecordChange { key, value }]).unwrap();
            backend.flush().unwrap();
        }
        Box::new(backend)
    }

    /// The names of sled's snapshots, and the content of the newest.
    fn snapshots(sled_dir: &Path) -> (Vec<PathBuf>, Vec<u8>) {
        let paths = snapshot_paths(sled_dir).unwrap();
        let newest = paths.last().map(|path| fs::read(path).unwrap());
        (paths.iter().map(|path| path.file_name().unwrap().into()).collect(), newest.unwrap_or_default())
    }

    /// What sled itself writes when it opens a copy of the files without their snapshots.
    fn snapshots_of_sled(sled_dir: &Path) -> (Vec<PathBuf>, Vec<u8>) {
        let copy = tempfile::tempdir().unwrap();
        for name in ["db", "conf"] {
            fs::copy(sled_dir.join(name), copy.path().join(name)).unwrap();
        }
        drop(sled::Config::new().path(copy.path()).use_compression(false).open().unwrap());
        snapshots(copy.path())
    }

    #[test]
    fn closing_after_much_was_written_leaves_the_snapshot_that_sled_would_write() {
        let dir = tempfile::tempdir().unwrap();
        let sled_dir = dir.path().join(SLED_DIR);
        for close in [|backend: Box<DiskBackend>| backend.close().unwrap(), |backend| drop(backend)] {
            close(write(dir.path(), MANY));
            assert_eq!(segments_since_snapshot(&sled_dir).unwrap(), 0);
            let found = snapshots(&sled_dir);
            assert_eq!(found.0.len(), 1, "those before are gone");
            assert!(found == snapshots_of_sled(&sled_dir), "{:?}", found.0);
            // Nobody has anything to write who opens it next.
            drop(write(dir.path(), 0));
            assert!(snapshots(&sled_dir) == found);
        }
    }

    #[test]
    fn closing_after_little_was_written_leaves_the_snapshot_as_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let sled_dir = dir.path().join(SLED_DIR);
        drop(write(dir.path(), 1));
        let backend = write(dir.path(), FEW);
        let before = snapshots(&sled_dir);
        backend.close().unwrap();
        assert_eq!(snapshots(&sled_dir).0, before.0);
        assert_ne!(snapshots_of_sled(&sled_dir).0, before.0);
    }

    #[test]
    fn a_snapshot_that_cannot_be_written_keeps_nobody_from_closing() {
        let dir = tempfile::tempdir().unwrap();
        let sled_dir = dir.path().join(SLED_DIR);
        let backend = write(dir.path(), MANY);
        let before = snapshots(&sled_dir);
        fs::rename(sled_dir.join("conf"), sled_dir.join("gone")).unwrap();
        backend.close().unwrap();
        assert!(snapshots(&sled_dir) == before);
    }
}
