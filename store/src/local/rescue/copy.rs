//! The copy of a damaged store, and the ways to open it.

use std::fs;
use std::io;
use std::path::Path;

use crate::local::backend::sled::disk::DiskBackend;
use crate::local::backend::sled::journal;
use crate::local::dir::lock::Lock;
use crate::local::dir::places::{SLED_DIR, WATERMARK_FILE};
use crate::local::dir::regular::open_regular;
use crate::local::dir::{draft, private, swap};
use crate::local::reader::records::Records;

/// What is left out of a copy before sled is asked to open it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Without {
    Nothing,
    /// sled's snapshots only spare reading its log; one that is damaged, or not of this log, keeps it from opening.
    Snapshots,
    /// sled's settings are always the same, so it can write them again.
    SnapshotsAndSettings,
}

/// The ways to open a copy, in the order in which they are tried.
pub(super) const WAYS: [Without; 3] = [Without::Nothing, Without::Snapshots, Without::SnapshotsAndSettings];

/// Opens a copy as sled does, without what is left out.
pub(super) fn open_copy(copy: &Path, without: Without) -> Result<Records, String> {
    swap::finish(copy).map_err(|error| error.to_string())?;
    let sled = copy.join(SLED_DIR);
    let db = sled.join("db");
    if !fs::metadata(&db).is_ok_and(|found| found.len() > 0) {
        return Err(format!("`{SLED_DIR}/db` is missing or empty"));
    }
    let leave_out = |name: &str| match without {
        Without::Nothing => false,
        Without::Snapshots => name.starts_with("snap."),
        Without::SnapshotsAndSettings => name.starts_with("snap.") || name == "conf",
    };
    let names = fs::read_dir(&sled).map_err(|error| error.to_string())?.flatten();
    for path in names.map(|entry| entry.path()) {
        if path.file_name().is_some_and(|name| leave_out(&name.to_string_lossy())) {
            fs::remove_file(&path).map_err(|error| error.to_string())?;
        }
    }
    let lock = Lock::take(copy).map_err(|error| error.to_string())?;
    let opened = draft::uninterrupted(|| DiskBackend::open_or_create(copy, lock));
    let backend = opened.map_err(|error| error.to_string())?;
    Ok(Records::new(Box::new(backend), None))
}

/// Copies what is a store's: known names, and of them only folders and regular files that lie in the store itself.
///
/// This, the sync of a new store and the sum of its bytes are no shorter with `walkdir`: one looks away from other names,
/// one syncs a folder after its files, one lets files vanish meanwhile.
pub(super) fn copy_all(from: &Path, to: &Path) -> io::Result<()> {
    draft::uninterrupted(|| fs::create_dir_all(to))?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (path, target, kind) = (entry.path(), to.join(entry.file_name()), entry.file_type()?);
        let name = entry.file_name();
        if !is_of_a_store(&name.to_string_lossy()) {
            continue;
        }
        if kind.is_dir() {
            copy_all(&path, &target)?;
        } else if kind.is_file() {
            let mut copy = private::options().write(true).create_new(true).open(&target)?;
            io::copy(&mut open_regular(&path)?, &mut copy)?;
        } else {
            tracing::warn!(path = %path.display(), "this is no regular file of the store and is left out");
        }
    }
    Ok(())
}

/// Returns `true` for the names of what is copied: sled's files and folders, the watermark, and those of a compaction.
fn is_of_a_store(name: &str) -> bool {
    matches!(name, SLED_DIR | WATERMARK_FILE | "db" | "conf" | "blobs" | journal::FILE)
        || name.starts_with("snap.")
        || swap::NAMES.contains(&name)
        // sled names the file of a very long value after its place in the log.
        || name.bytes().all(|byte| byte.is_ascii_digit())
}
