//! The directory of a store, and the file that marks it as one.

use std::io::{self, Write};
use std::path::Path;

use crate::error::StoreError;
use crate::local::files::{FORMAT_FILE, JOURNAL_DIR, LOCK_FILE, Places, SLED_DIR, read_at_most, sync_dir};
use crate::local::journal::commit::Salt;
use crate::local::journal::{Remains, head};
use crate::local::lock::{Lock, Locks};
use crate::local::{files, swap};

const FORMAT_DRAFT: &str = "FORMAT.new";
/// Modules that callers keep next to the store, possibly before the store exists.
const MODULES_DIR: &str = "modules";
const FORMAT: &str = "turnfold store 4\n";

/// Takes the locks of an existing store, and finishes an interrupted compaction.
pub(crate) fn hold_existing(dir: &Path) -> Result<(Locks, Places), StoreError> {
    require_store(dir)?;
    hold(dir, Lock::take(dir)?)
}

pub(crate) fn hold(dir: &Path, lock: Lock) -> Result<(Locks, Places), StoreError> {
    if swap::is_pending(dir) {
        swap::finish(dir).map_err(|error| StoreError::in_dir(dir, "finish the compaction of", dir, error))?;
    }
    let places = swap::places(dir);
    let locks = Locks::take(dir, &places.journal, lock)?;
    Ok((locks, places))
}

pub(crate) fn require_store(dir: &Path) -> Result<(), StoreError> {
    if !is_there(dir)? {
        return Err(StoreError::Missing { dir: dir.to_owned() });
    }
    if has_format(dir)? {
        return Ok(());
    }
    let names = list(dir).map_err(|error| StoreError::in_dir(dir, "read", dir, error))?;
    if names.iter().all(|name| name == MODULES_DIR) {
        return Err(StoreError::Missing { dir: dir.to_owned() });
    }
    Err(not_marked_as_store(dir, "it has no file `FORMAT`"))
}

fn is_there(dir: &Path) -> Result<bool, StoreError> {
    match std::fs::metadata(dir) {
        Ok(found) if !found.is_dir() => Err(StoreError::not_a_store(dir, "it is a file")),
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(StoreError::in_dir(dir, "read", dir, error)),
    }
}

pub(crate) fn hold_or_create(dir: &Path) -> Result<Lock, StoreError> {
    if !is_there(dir)? {
        files::create_dir(dir).map_err(|error| StoreError::in_dir(dir, "create", dir, error))?;
    }
    if !has_format(dir)? {
        let ours = [LOCK_FILE, JOURNAL_DIR, SLED_DIR, FORMAT_DRAFT, FORMAT_FILE, MODULES_DIR];
        let names = list(dir).map_err(|error| StoreError::in_dir(dir, "read", dir, error))?;
        for name in names {
            if !ours.contains(&name.as_str()) {
                let reason = format!("it has no file `FORMAT`, but `{}`", name.escape_debug());
                return Err(not_marked_as_store(dir, &reason));
            }
        }
    }
    Lock::take(dir)
}

/// Creates an empty journal in a directory that is to become a store. It replaces a journal whose creation was
/// interrupted.
pub(crate) fn create_journal(dir: &Path) -> Result<(), StoreError> {
    require_nothing_committed(dir)?;
    let journal = dir.join(JOURNAL_DIR);
    let written = write_journal(&journal).and_then(|()| sync_dir(dir));
    written.map_err(|error| StoreError::in_dir(dir, "write", &journal, error))
}

fn write_journal(journal: &Path) -> io::Result<()> {
    files::create_dir(journal)?;
    let mut salt = Salt::default();
    getrandom::fill(&mut salt).map_err(io::Error::other)?;
    for (name, turn) in head::NAMES.iter().zip(1..) {
        head::create(&journal.join(name), &salt, turn)?;
    }
    sync_dir(journal)
}

/// Requires that the journal of a directory without FORMAT names no commit, because such a store is damaged, not new.
fn require_nothing_committed(dir: &Path) -> Result<(), StoreError> {
    let mut commits = 0;
    if let Some(mut remains) = Remains::find(&dir.join(JOURNAL_DIR)) {
        remains.each_commit(&mut |_, _, _| {
            commits += 1;
            Ok(())
        })?;
        if commits > 0 || remains.names_a_commit() {
            let reason = "it holds commits, but the file that says what it is is missing";
            return Err(StoreError::damaged(reason));
        }
    }
    Ok(())
}

pub(crate) fn complete(dir: &Path) -> Result<(), StoreError> {
    let draft = dir.join(FORMAT_DRAFT);
    write_format(&draft).map_err(|error| StoreError::in_dir(dir, "write", &draft, error))?;
    let path = dir.join(FORMAT_FILE);
    name_format(&draft, &path, dir).map_err(|error| StoreError::in_dir(dir, "write", &path, error))
}

fn write_format(draft: &Path) -> io::Result<()> {
    let mut file = files::options().write(true).create(true).truncate(true).open(draft)?;
    file.write_all(FORMAT.as_bytes())?;
    file.sync_all()
}

fn name_format(draft: &Path, path: &Path, dir: &Path) -> io::Result<()> {
    std::fs::rename(draft, path)?;
    sync_dir(dir)?;
    match dir.parent() {
        Some(parent) => sync_dir(parent),
        None => Ok(()),
    }
}

/// Returns `true` if the directory's file FORMAT names the current format, `false` without that file. Any other content
/// is an error.
pub(crate) fn has_format(dir: &Path) -> Result<bool, StoreError> {
    let path = dir.join(FORMAT_FILE);
    let found = match read_at_most(&path, 64) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(StoreError::in_dir(dir, "read", &path, error)),
    };
    let found = String::from_utf8_lossy(&found);
    match &*found {
        FORMAT => Ok(true),
        // ST-19: a store of another format is migrated with a backup.
        other if other.starts_with("turnfold store ") => {
            let found = other.trim_end().to_owned();
            Err(StoreError::UnknownFormat { dir: dir.to_owned(), found })
        }
        _ => Err(not_marked_as_store(dir, "its file `FORMAT` does not say `turnfold store 4`")),
    }
}

pub(crate) fn require_no_other(dir: &Path) -> Result<(), StoreError> {
    match has_format(dir) {
        Err(error @ StoreError::UnknownFormat { .. }) => Err(error),
        _ => Ok(()),
    }
}

fn not_marked_as_store(dir: &Path, reason: &str) -> StoreError {
    match require_nothing_committed(dir) {
        Err(StoreError::Corrupt { .. }) => StoreError::damaged(format!("`{}`: {reason}", dir.display())),
        _ => StoreError::not_a_store(dir, reason),
    }
}

fn list(dir: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(dir)? {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    Ok(names)
}
