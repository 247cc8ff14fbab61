//! Opening sled as it opens by itself: what is new, and what a creation that was cut short left.

use std::io;
use std::path::Path;
use std::time::Duration;

use super::guard::guarded;
use super::raw;
use crate::local::backend::BackendError;
use crate::local::dir::places::{SLED_DIR, WATERMARK_FILE};
use crate::local::dir::watermark::WatermarkFile;
use crate::local::layout::record::{self, StoreRecord};

const CACHE_BYTES: u64 = 64 * 1024 * 1024;

/// How often, and how long apart, opening is tried while an earlier handle of this process lets go of sled's own lock.
const LOCK_TRIES: u32 = 200;
const LOCK_PAUSE: Duration = Duration::from_millis(10);

/// Requires the files of a directory that is no store yet to be what its creation left: nothing was committed.
///
/// sled may destroy what is damaged, so this looks for records without it.
pub(crate) fn require_nothing_committed(dir: &Path) -> Result<(), BackendError> {
    let lines = WatermarkFile::at(dir.join(WATERMARK_FILE)).lines()?;
    let marked = lines.into_iter().flatten().flatten().map(|marked| (marked.commits, marked.entries)).max();
    let db = dir.join(SLED_DIR).join("db");
    let mut most = marked.unwrap_or_default();
    let found = raw::each_candidate(&db, &mut |found| {
        if let Some(StoreRecord { now, .. }) = record::read_store(found.value) {
            most = most.max((now.commits, now.entries));
        }
    });
    match (found, most) {
        (Err(source), _) if source.kind() != io::ErrorKind::NotFound => {
            Err(BackendError::io("read", &db, source))
        }
        (_, (0, _)) => Ok(()),
        (_, (_, entries)) => Err(BackendError::Damaged(format!(
            "it holds {entries} entries, but the files that say what it is are missing"
        ))),
    }
}

/// Removes snapshots that sled was writing when its process was killed.
///
/// sled writes a snapshot as `snap.N.generating` and renames it when it is whole, but takes any file that begins with
/// `snap.` for a whole one: an unfinished one keeps it from opening. A snapshot only spares reading the log, and the
/// one before it stays until the rename, so nothing is lost.
pub(super) fn drop_unfinished_snapshots(sled_dir: &Path) -> io::Result<()> {
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

/// Opens sled after its creation was cut short, which may have left a part of `conf`. That file says nothing that we do
/// not tell sled again.
pub(super) fn open_anew(sled_dir: &Path) -> Result<sled::Db, BackendError> {
    match std::fs::remove_file(sled_dir.join("conf")) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(BackendError::io("remove an unfinished `conf` in", sled_dir, error))
        }
        _ => open_sled(sled_dir),
    }
}

pub(super) fn open_sled(sled_dir: &Path) -> Result<sled::Db, BackendError> {
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

/// Returns `true` if sled found its own lock taken, for which it has no error of its own.
fn is_lock_error(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::Other && error.to_string().starts_with("could not acquire lock")
}
