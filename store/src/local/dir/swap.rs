//! Swapping the records of a store for others that say the same, so that a crash leaves the old or the new.
//!
//! The new store is made in `compact.new`. Renaming that to `compact.ready` decides: from then on the new records
//! count, and whoever has the store's lock next finishes what is left to do.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::places::{Places, SLED_DIR, WATERMARK_FILE};
use super::private::sync_dir;

const NEW: &str = "compact.new";
const READY: &str = "compact.ready";

/// Where the records they replace go, within `compact.ready`, until they are removed.
const OLD: &str = "old";

/// The names that a swap uses.
pub(crate) const NAMES: [&str; 3] = [NEW, READY, OLD];

/// The directory in which new records are made.
pub(crate) fn draft(dir: &Path) -> PathBuf {
    dir.join(NEW)
}

/// Puts the records of the store in [`draft`], which is closed and durable, in the place of those in `dir`, which is
/// closed too but locked.
pub(crate) fn replace(dir: &Path) -> io::Result<()> {
    fs::rename(dir.join(NEW), dir.join(READY))?;
    sync_dir(dir)?;
    finish(dir)
}

/// Returns where the records lie, also while a swap is cut short: there where [`finish`] would take them from.
pub(crate) fn places(dir: &Path) -> Places {
    let place = |name: &str| {
        let ready = dir.join(READY).join(name);
        if ready.exists() { ready } else { dir.join(name) }
    };
    Places { sled: place(SLED_DIR), watermark: place(WATERMARK_FILE) }
}

/// Returns `true` if a swap was cut short.
pub(crate) fn is_pending(dir: &Path) -> bool {
    [NEW, READY].into_iter().any(|name| dir.join(name).exists())
}

/// Finishes or undoes a swap that was cut short. The caller has the lock on `dir`.
pub(crate) fn finish(dir: &Path) -> io::Result<()> {
    let (new, ready) = (dir.join(NEW), dir.join(READY));
    if new.exists() {
        tracing::info!("removing what a compaction left that did not come to its end");
        fs::remove_dir_all(&new)?;
    }
    if !ready.exists() {
        return Ok(());
    }
    let (sled, watermark) = (dir.join(SLED_DIR), dir.join(WATERMARK_FILE));
    if ready.join(SLED_DIR).exists() {
        if sled.exists() {
            fs::rename(&sled, ready.join(OLD))?;
        }
        fs::rename(ready.join(SLED_DIR), &sled)?;
        sync_dir(dir)?;
        sync_dir(&ready)?;
    }
    if ready.join(WATERMARK_FILE).exists() {
        fs::rename(ready.join(WATERMARK_FILE), &watermark)?;
        sync_dir(dir)?;
    }
    fs::remove_dir_all(&ready)?;
    sync_dir(dir)
}
