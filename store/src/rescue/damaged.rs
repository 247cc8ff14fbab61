//! A damaged store, read from a copy: opened by whatever way shows all of it, or put together from pieces.

use std::fs::{self, File, TryLockError};
use std::io;
use std::ops::Range;
use std::path::Path;

use super::error::RescueError;
use super::found::Found;
use super::gone::Gone;
use super::{swap, whole};
use crate::backend::disk::{DiskBackend, SLED_DIR, WATERMARK_FILE};
use crate::backend::watermark::{WatermarkFile, damaged_line};
use crate::backend::{BackendError, Place, Record, Watermark, raw};
use crate::error::StoreError;
use crate::key;
use crate::lock::{LOCK_FILE, Lock, holder};
use crate::open::Shared;
use crate::private;
use crate::regular::open_regular;

/// How many bytes of a key are tried one after another to get past a place that cannot be read.
const DETOUR_BYTES: usize = 16;

/// How many records are read at a time.
const SCAN_MAX: usize = 256;

/// The copy of a damaged store.
pub(super) struct Damaged {
    pub(super) shared: Shared,
    pub(super) marks: Marks,
    pub(super) gone: Gone,
    /// Where anything says that the store was written to last, and after which commit.
    pub(super) places: Vec<(u64, Place)>,
    /// Why its records had to be looked for one by one.
    pub(super) reason: Option<String>,
}

/// What the file beside the records says.
pub(super) struct Marks {
    /// Its lines that can be read.
    pub(super) valid: Vec<Watermark>,
    /// What is wrong with it.
    pub(super) damage: Option<String>,
}

/// What is left out of a copy before sled is asked to open it.
#[derive(Clone, Copy, Debug)]
enum Without {
    Nothing,
    /// sled's snapshots only spare reading its log; one that is damaged, or not of this log, keeps it from opening.
    Snapshots,
    /// sled's settings are always the same, so it can write them again.
    SnapshotsAndSettings,
}

/// The ways to open a copy, in the order in which they are tried.
const WAYS: [Without; 3] = [Without::Nothing, Without::Snapshots, Without::SnapshotsAndSettings];

/// Copies a store to below `scratch` and opens the copy. Where that does not show everything that ever was there, what
/// all ways of opening it show and what lies in sled's file is put together in memory.
pub(super) fn open(dir: &Path, scratch: &Path) -> Result<Damaged, RescueError> {
    if !dir.is_dir() {
        return Err(StoreError::Missing { dir: dir.to_owned() }.into());
    }
    let _lock = hold(dir)?;
    let marks = Marks::of(&WatermarkFile::at(dir.join(WATERMARK_FILE)));
    let db = dir.join(SLED_DIR).join("db");
    let mut found = Found::default();
    let mut reasons = Vec::new();
    for (number, without) in WAYS.into_iter().enumerate() {
        let copy = scratch.join(number.to_string());
        copy_all(dir, &copy).map_err(|source| RescueError::io("copy", dir, source))?;
        match open_copy(&copy, without) {
            Ok(shared) => {
                let Err(reason) = whole::require(&shared, &marks, &db) else {
                    return Ok(Damaged::whole(shared, marks));
                };
                found.add_opened(scan_leniently(&shared, &(vec![0]..vec![u8::MAX])));
                reasons.push(reason);
            }
            Err(error) => reasons.push(error),
        }
    }
    if let Err(error) = raw::each_candidate(&db, &mut |candidate| found.add_raw(candidate)) {
        reasons.push(format!("the file `{SLED_DIR}/db` cannot be read: {error}"));
    }
    found.join_pieces();
    let reason = reasons.into_iter().next().unwrap_or_default();
    if found.is_empty() {
        return Err(RescueError::NothingReadable { dir: dir.to_owned(), reason });
    }
    Damaged::put_together(found, marks, reason)
}

impl Damaged {
    /// A store of which the copy shows everything.
    fn whole(shared: Shared, marks: Marks) -> Self {
        // A branch that the watermark names may have been deleted since; nothing is missing.
        Self { places: Vec::new(), ..Self::of_records(shared, marks) }
    }

    /// A store that is read as it is.
    pub(super) fn of_records(shared: Shared, marks: Marks) -> Self {
        let mut gone = Gone::default();
        for (key, value) in scan_leniently(&shared, &key::all_gone()) {
            gone.add(&key, &value);
        }
        let places = marks.valid.iter().filter_map(|mark| mark.last.clone().map(|last| (mark.commits, last)));
        let places = places.collect();
        Self { shared, marks, gone, places, reason: None }
    }

    fn put_together(mut found: Found, marks: Marks, reason: String) -> Result<Self, RescueError> {
        let marked = marks.valid.iter().map(|mark| mark.commits).max();
        let last_commit = found.commits().max(marked);
        found.gone.retain_up_to(last_commit.unwrap_or(u64::MAX));
        let mut places = std::mem::take(&mut found.places);
        places
            .extend(marks.valid.iter().filter_map(|mark| mark.last.clone().map(|last| (mark.commits, last))));
        let (backend, gone) = found.into_backend()?;
        let shared = Shared::new(Box::new(backend));
        Ok(Self { shared, marks, gone, places, reason: Some(reason) })
    }
}

impl Marks {
    fn of(file: &WatermarkFile) -> Self {
        // A read that failed once may be nothing but that.
        match file.lines().or_else(|_| file.lines()) {
            Ok(Some(lines)) => {
                let damage = match damaged_line(&lines) {
                    None if lines.iter().all(Option::is_none) => Some(unknown_newest("unreadable")),
                    damage => damage,
                };
                Self { valid: lines.into_iter().flatten().collect(), damage }
            }
            Ok(None) => Self { valid: Vec::new(), damage: Some(unknown_newest("missing")) },
            Err(_) => Self { valid: Vec::new(), damage: Some(unknown_newest("unreadable")) },
        }
    }

    /// The watermark of a backend that has no file.
    pub(super) fn read(read: Result<Option<Watermark>, BackendError>) -> Self {
        let (valid, damage) = match read {
            Ok(Some(marked)) => (vec![marked], None),
            Ok(None) => (Vec::new(), Some(unknown_newest("missing"))),
            Err(_) => (Vec::new(), Some(unknown_newest("unreadable"))),
        };
        Self { valid, damage }
    }

    /// Returns the one that counts.
    pub(super) fn newest(&self) -> Option<&Watermark> {
        self.valid.iter().max_by_key(|mark| mark.commits)
    }
}

fn unknown_newest(state: &str) -> String {
    format!("the file `WATERMARK` is {state}; whether the newest entries are there is not known")
}

/// Takes the lock of a store that may be damaged, without writing anything.
fn hold(dir: &Path) -> Result<Option<File>, RescueError> {
    let Ok(mut file) = open_regular(&dir.join(LOCK_FILE)) else { return Ok(None) };
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => {
            Err(StoreError::Locked { dir: dir.to_owned(), holder: holder(&mut file) }.into())
        }
        Err(TryLockError::Error(source)) => Err(RescueError::io("lock", dir, source)),
    }
}

fn open_copy(copy: &Path, without: Without) -> Result<Shared, String> {
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
    let backend = DiskBackend::open_or_create(copy, lock).map_err(|error| error.to_string())?;
    Ok(Shared::new(Box::new(backend)))
}

/// Copies what is a store's: known names, and of them only folders and regular files that lie in the store itself.
fn copy_all(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
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
    matches!(name, SLED_DIR | WATERMARK_FILE | "db" | "conf" | "blobs")
        || name.starts_with("snap.")
        || swap::NAMES.contains(&name)
        // sled names the file of a very long value after its place in the log.
        || name.bytes().all(|byte| byte.is_ascii_digit())
}

/// Gives the records in a range of keys that can be read; around a place that cannot, every way past it is tried.
pub(super) fn scan_leniently(shared: &Shared, range: &Range<Vec<u8>>) -> Vec<Record> {
    let mut found = Vec::new();
    detour(shared, range, range.start.len(), &mut found);
    found
}

/// Reads a range, and where that fails the ranges of its first byte after `known`, each by itself.
fn detour(shared: &Shared, range: &Range<Vec<u8>>, known: usize, found: &mut Vec<Record>) {
    let before = found.len();
    let mut rest = range.clone();
    while let Ok(records) = shared.backend.scan(&rest, SCAN_MAX) {
        let is_last = records.len() < SCAN_MAX;
        if let Some((last, _)) = records.last() {
            rest.start = [last.as_slice(), &[0]].concat();
        }
        found.extend(records);
        if is_last {
            return;
        }
    }
    found.truncate(before);
    if known >= DETOUR_BYTES {
        return;
    }
    let prefix: Vec<u8> = range.start.get(..known).unwrap_or_default().to_vec();
    if let Ok(Some(value)) = shared.backend.get(&prefix) {
        found.push((prefix.clone(), value));
    }
    for byte in 0..=u8::MAX {
        let from = [prefix.as_slice(), &[byte]].concat();
        let until = match byte.checked_add(1) {
            Some(next) => [prefix.as_slice(), &[next]].concat(),
            None => range.end.clone(),
        };
        if until <= from {
            continue;
        }
        detour(shared, &(from..until), known + 1, found);
    }
}

/// Gives why something cannot be read, without its place.
pub(super) fn reason_of(error: StoreError) -> String {
    match error {
        StoreError::Corrupt { reason, .. } => reason,
        other => other.to_string(),
    }
}
