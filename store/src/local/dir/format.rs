//! A store's directory, and what says that it is one.

use std::io::{self, Write};
use std::path::Path;

use super::lock::{Lock, SharedLock};
use super::places::{LOCK_FILE, Places, SLED_DIR, WATERMARK_FILE};
use super::private::{self, sync_dir};
use super::regular::read_at_most;
use super::swap;
use crate::error::StoreError;
use crate::local::backend::BackendError;
use crate::local::backend::sled::journal;
use crate::local::backend::sled::opening::require_nothing_committed;

const FORMAT_FILE: &str = "FORMAT";
const FORMAT_DRAFT: &str = "FORMAT.new";
const FORMAT: &str = "turnfold store 3\n";

/// The format before the journal. It is read as it is, and becomes the present one when it is opened for writing.
const FORMAT_BEFORE: &str = "turnfold store 2\n";

/// More than sled ever writes into its file `conf`.
const CONF_BYTES_MAX: u64 = 1 << 16;

/// A format that this build knows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Format {
    Present,
    /// It has no journal.
    Before,
}

/// A directory on which we hold the lock.
pub(crate) struct Held {
    pub(crate) lock: Lock,
    /// Whether it is a store; if not, it is empty or its creation was cut short.
    pub(crate) is_complete: bool,
}

/// Takes the lock of an existing store, shared with others who only read, and writes nothing.
///
/// Without a file `LOCK`, sled's own lock keeps writers out.
pub(crate) fn hold_for_reading(dir: &Path) -> Result<(Option<SharedLock>, Places), StoreError> {
    let format = require_store(dir)?;
    let lock = SharedLock::take(dir, &[dir.join(LOCK_FILE), dir.join(SLED_DIR).join("db")])?;
    let places = swap::places(dir);
    require_records(&places.sled, format)?;
    Ok((lock, places))
}

/// Takes the lock of an existing store.
pub(crate) fn hold_existing(dir: &Path) -> Result<Lock, StoreError> {
    let format = require_store(dir)?;
    let lock = Lock::take(dir)?;
    require_records(&swap::places(dir).sled, format)?;
    Ok(lock)
}

/// Requires a directory to be a store of a format that we know.
fn require_store(dir: &Path) -> Result<Format, StoreError> {
    match std::fs::metadata(dir) {
        Ok(found) if !found.is_dir() => return Err(StoreError::not_a_store(dir, "it is a file")),
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(StoreError::Missing { dir: dir.to_owned() });
        }
        Err(error) => return Err(StoreError::in_dir(dir, "read", dir, error)),
    }
    if let Some(format) = find_format(dir)? {
        return Ok(format);
    }
    if names(dir)?.is_empty() {
        return Err(StoreError::Missing { dir: dir.to_owned() });
    }
    Err(not_said_to_be_a_store(dir, "it has no file `FORMAT`"))
}

/// Takes the lock of a store or of a directory that may become one, which is made if need be.
pub(crate) fn hold_or_create(dir: &Path) -> Result<Held, StoreError> {
    match std::fs::metadata(dir) {
        Ok(found) if !found.is_dir() => return Err(StoreError::not_a_store(dir, "it is a file")),
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            private::create_dir(dir).map_err(|error| StoreError::in_dir(dir, "create", dir, error))?;
        }
        Err(error) => return Err(StoreError::in_dir(dir, "read", dir, error)),
    }
    if find_format(dir)?.is_none() {
        let ours = [LOCK_FILE, SLED_DIR, WATERMARK_FILE, FORMAT_DRAFT, FORMAT_FILE];
        let foreign = names(dir)?.into_iter().find(|name| !ours.contains(&name.as_str()));
        if let Some(name) = foreign {
            let reason = format!("it has no file `FORMAT`, but `{}`", name.escape_debug());
            return Err(not_said_to_be_a_store(dir, &reason));
        }
    }
    let lock = Lock::take(dir)?;
    // Another process may have completed the store before we got the lock.
    let format = find_format(dir)?;
    format.map_or(Ok(()), |format| require_records(&swap::places(dir).sled, format))?;
    Ok(Held { lock, is_complete: format.is_some() })
}

/// Finishes a compaction that was cut short, if `check` finds the records sound that are to count.
pub(crate) fn finish_swap(
    dir: &Path,
    check: impl FnOnce(&Places) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    if !swap::is_pending(dir) {
        return Ok(());
    }
    check(&swap::places(dir))?;
    swap::finish(dir).map_err(|error| StoreError::in_dir(dir, "finish the compaction of", dir, error))
}

/// Requires sled's files in a complete store: where they are missing, sled would make an empty database.
fn require_records(sled_dir: &Path, format: Format) -> Result<(), StoreError> {
    for file in ["db", "conf"] {
        let path = sled_dir.join(file);
        if !path.metadata().is_ok_and(|found| found.is_file() && found.len() > 0) {
            return Err(StoreError::damaged(format!("`{}` is missing or empty", path.display())));
        }
    }
    if format == Format::Present {
        require_journal(&sled_dir.join(journal::FILE))?;
    }
    require_bounded(sled_dir)
}

/// Requires a journal to be whole, for it never changes its length.
fn require_journal(path: &Path) -> Result<(), StoreError> {
    let found = path.metadata().ok().filter(std::fs::Metadata::is_file);
    let Some(found) = found else {
        return Err(StoreError::damaged(format!("`{}` is missing", path.display())));
    };
    let expected = journal::JOURNAL_BYTES as u64;
    if found.len() == expected {
        return Ok(());
    }
    let reason = format!("`{}` has {} bytes, it should have {expected}", path.display(), found.len());
    Err(StoreError::damaged(reason))
}

/// Requires regular files of a likely size wherever sled reads a file whole: it reads to the end whatever it finds.
fn require_bounded(sled_dir: &Path) -> Result<(), StoreError> {
    // A snapshot holds a few numbers for each page, of which `db` holds the content.
    let db_bytes = sled_dir.join("db").metadata().map_or(0, |found| found.len());
    let names = names(sled_dir)?.into_iter().filter(|name| name == "conf" || name.starts_with("snap."));
    for name in names {
        let bytes_max = if name == "conf" { CONF_BYTES_MAX } else { db_bytes.max(CONF_BYTES_MAX) };
        let path = sled_dir.join(name);
        let found = path.metadata().map_err(|error| StoreError::in_dir(sled_dir, "read", &path, error))?;
        if !found.is_file() {
            return Err(StoreError::damaged(format!("`{}` is not a regular file", path.display())));
        }
        if found.len() > bytes_max {
            let reason =
                format!("`{}` has {} bytes, at most {bytes_max} are likely", path.display(), found.len());
            return Err(StoreError::damaged(reason));
        }
    }
    Ok(())
}

/// Writes the present format over the one before, in a store that has all that belongs to it.
pub(crate) fn renew(dir: &Path) -> Result<(), StoreError> {
    if find_format(dir)? == Some(Format::Before) { complete(dir) } else { Ok(()) }
}

/// Declares the directory a store; the last step of creation.
pub(crate) fn complete(dir: &Path) -> Result<(), StoreError> {
    let draft = dir.join(FORMAT_DRAFT);
    let created = private::options().write(true).create(true).truncate(true).open(&draft);
    let written = created.and_then(|mut file| {
        file.write_all(FORMAT.as_bytes())?;
        file.sync_all()
    });
    written.map_err(|error| StoreError::in_dir(dir, "write", &draft, error))?;
    let named = std::fs::rename(&draft, dir.join(FORMAT_FILE)).and_then(|()| {
        sync_dir(dir)?;
        dir.parent().map_or(Ok(()), sync_dir)
    });
    named.map_err(|error| StoreError::in_dir(dir, "write", &dir.join(FORMAT_FILE), error))
}

/// Returns the format that the directory's file FORMAT names; `None` without one.
fn find_format(dir: &Path) -> Result<Option<Format>, StoreError> {
    let path = dir.join(FORMAT_FILE);
    let found = match read_at_most(&path, 64) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(StoreError::in_dir(dir, "read", &path, error)),
    };
    let found = String::from_utf8_lossy(&found);
    match &*found {
        FORMAT => Ok(Some(Format::Present)),
        FORMAT_BEFORE => Ok(Some(Format::Before)),
        other if other.starts_with("turnfold store ") => {
            let found = other.trim_end().to_owned();
            Err(StoreError::UnknownFormat { dir: dir.to_owned(), found })
        }
        _ => Err(not_said_to_be_a_store(dir, "its file `FORMAT` does not say `turnfold store 3`")),
    }
}

/// Says of a directory whose file FORMAT does not say so that it is no store, or, where something was committed, that it
/// is a damaged one.
fn not_said_to_be_a_store(dir: &Path, reason: &str) -> StoreError {
    match require_nothing_committed(dir) {
        Err(BackendError::Damaged(_)) => StoreError::damaged(format!("`{}`: {reason}", dir.display())),
        _ => StoreError::not_a_store(dir, reason),
    }
}

fn names(dir: &Path) -> Result<Vec<String>, StoreError> {
    let listed: io::Result<Vec<_>> = std::fs::read_dir(dir).and_then(|entries| {
        entries.map(|entry| entry.map(|entry| entry.file_name().to_string_lossy().into_owned())).collect()
    });
    listed.map_err(|error| StoreError::in_dir(dir, "read", dir, error))
}
