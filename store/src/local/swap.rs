//! Swaps the journal of a store for another of the same contents. A crash leaves either the old one or the new one
//! (ST-18).
//!
//! The new store is made in `compact.new`. Renaming that folder to `compact.ready` decides: from then on the new
//! journal counts, and the next process that holds the store's lock does the rest.

use std::path::{Path, PathBuf};
use std::{fs, io};

use crate::local::files::{
    FORMAT_FILE, JOURNAL_DIR, Places, SLED_DIR, open_sound, or_gone, read_at, sync_dir,
};
use crate::local::journal::commit::{HEADER_BYTES, Salt, read_header};
use crate::local::journal::head;

const NEW: &str = "compact.new";
const READY: &str = "compact.ready";

const OLD: &str = "old";

pub(crate) fn draft(dir: &Path) -> PathBuf {
    dir.join(NEW)
}

/// Replaces the store in `dir` with the one in [`draft`]. The new store must be closed and durable, the old one closed
/// and locked.
pub(crate) fn replace(dir: &Path) -> io::Result<()> {
    // An index of the old journal must never be next to the new journal.
    or_gone(fs::remove_dir_all(dir.join(SLED_DIR)))?;
    sync_dir(dir)?;
    fs::rename(dir.join(NEW), dir.join(READY))?;
    sync_dir(dir)?;
    finish(dir)
}

/// Returns where the journal and the indexes are. During an interrupted swap, a part that [`finish`] has not moved yet
/// is still in `compact.ready`.
pub(crate) fn places(dir: &Path) -> Places {
    Places { journal: place(dir, JOURNAL_DIR), sled: place(dir, SLED_DIR) }
}

fn place(dir: &Path, name: &str) -> PathBuf {
    let ready = dir.join(READY).join(name);
    if ready.exists() { ready } else { dir.join(name) }
}

/// Returns the directory of the store whose journal is in this folder, which may be in `compact.ready`.
pub(crate) fn dir_of(journal: &Path) -> &Path {
    let dir = journal.parent().unwrap_or(journal);
    // A store may itself be called `compact.ready`, but then no store contains it.
    let outer = dir.parent().filter(|outer| dir.ends_with(READY) && outer.join(FORMAT_FILE).exists());
    outer.unwrap_or(dir)
}

/// Reads a store without its lock. A failed read is repeated if the journal or the indexes were swapped while it ran
/// (ST-16).
pub(crate) fn read_unswapped<T, E>(
    dir: &Path,
    mut read: impl FnMut(&Places) -> Result<T, E>,
) -> Result<T, E> {
    loop {
        let places = places(dir);
        let salt = salt_at(&places.journal);
        let done = read(&places);
        // Indexes and journal are moved one after the other, so either may have moved alone.
        let now = self::places(dir);
        if done.is_ok() || (now == places && salt_at(&now.journal) == salt) {
            return done;
        }
    }
}

fn salt_at(journal: &Path) -> Option<Salt> {
    let (file, _) = open_sound(&journal.join(head::NAMES.first()?)).ok()?;
    read_header(&read_at(&file, 0, HEADER_BYTES).ok()?)
}

pub(crate) fn is_pending(dir: &Path) -> bool {
    [NEW, READY].into_iter().any(|name| dir.join(name).exists())
}

/// Completes or undoes an interrupted swap. The caller holds the lock on `dir`.
pub(crate) fn finish(dir: &Path) -> io::Result<()> {
    let new = dir.join(NEW);
    let ready = dir.join(READY);
    if new.exists() {
        tracing::info!("removing what a compaction left that did not come to its end");
        fs::remove_dir_all(&new)?;
    }
    if !ready.exists() {
        return Ok(());
    }
    for name in [SLED_DIR, JOURNAL_DIR] {
        let from = ready.join(name);
        let to = dir.join(name);
        if !from.exists() {
            continue;
        }
        if to.exists() {
            fs::rename(&to, ready.join([OLD, name].join(".")))?;
        }
        fs::rename(from, to)?;
        sync_dir(dir)?;
        sync_dir(&ready)?;
    }
    fs::remove_dir_all(&ready)?;
    sync_dir(dir)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn st_16_a_reader_begins_again_when_the_indexes_alone_have_moved() {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path();
        fs::create_dir_all(dir.join(READY).join(JOURNAL_DIR)).unwrap();
        fs::create_dir_all(dir.join(READY).join(SLED_DIR)).unwrap();
        let mut tries = 0;
        let read = read_unswapped(dir, |places| {
            tries += 1;
            if tries == 1 {
                fs::rename(&places.sled, dir.join(SLED_DIR)).unwrap();
            }
            fs::read_dir(&places.sled).map(drop)
        });
        assert!(read.is_ok() && tries == 2, "{read:?} after {tries}");
    }
}
