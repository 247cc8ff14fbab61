//! A damaged store, read from a copy: opened by whatever way shows all of it, or put together from pieces.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, TryLockError};
use std::io;
use std::ops::Range;
use std::path::Path;

use super::error::RescueError;
use super::salvage::LostEntries;
use super::swap;
use crate::backend::disk::{DiskBackend, SLED_DIR, WATERMARK_FILE};
use crate::backend::memory::MemoryBackend;
use crate::backend::watermark::WatermarkFile;
use crate::backend::{Backend, BackendError, Change, Record, Watermark, pieces, raw};
use crate::error::StoreError;
use crate::lock::{LOCK_FILE, Lock, holder};
use crate::open::Shared;
use crate::private;
use crate::record::{self, BranchRecord, HeadRecord, MatchRecord, StoreRecord};
use crate::regular::open_regular;

/// How many bytes of a key are tried one after another to get past a place that cannot be read.
const DETOUR_BYTES: usize = 16;

/// How many versions of a long value are put together from its pieces. As long as its length stays, only its first and
/// last piece ever change.
const VERSIONS_MAX: usize = 256;

/// How many records are read at a time.
const SCAN_MAX: usize = 256;

/// The copy of a damaged store.
pub(super) struct Damaged {
    pub(super) shared: Shared,
    /// What the file beside it says it held.
    pub(super) marked: Option<Watermark>,
    /// What is wrong with it as a whole.
    pub(super) notes: Vec<LostEntries>,
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

/// Copies a store to below `scratch` and opens the copy. Where no way of opening it shows everything, what all of them
/// show and what lies in sled's file is put together in memory.
pub(super) fn open(dir: &Path, scratch: &Path) -> Result<Damaged, RescueError> {
    if !dir.is_dir() {
        return Err(StoreError::Missing { dir: dir.to_owned() }.into());
    }
    let _lock = hold(dir)?;
    let marked = WatermarkFile::at(dir.join(WATERMARK_FILE)).read();
    let expected = marked.as_ref().ok().and_then(Option::as_ref).map_or(0, |marked| marked.commits);
    let mut found = Found::default();
    let mut reasons = Vec::new();
    for (number, without) in WAYS.into_iter().enumerate() {
        let copy = scratch.join(number.to_string());
        copy_all(dir, &copy).map_err(|source| RescueError::io("copy", dir, source))?;
        match open_copy(&copy, without) {
            Ok(shared) => {
                let Err(reason) = require_whole(&shared, expected) else {
                    let (marked, notes) = self::marked(marked);
                    return Ok(Damaged { shared, marked, notes });
                };
                for (key, value) in scan_leniently(&shared, &(vec![0]..vec![u8::MAX])) {
                    found.add(&key, &value);
                }
                reasons.push(reason);
            }
            Err(error) => reasons.push(error),
        }
    }
    let db = dir.join(SLED_DIR).join("db");
    if let Err(error) = raw::each_candidate(&db, &mut |key, value| found.add(&key, value)) {
        tracing::warn!(%error, "cannot look for records in sled's file");
    }
    let reason = reasons.into_iter().next().unwrap_or_default();
    found.join_pieces();
    if found.records.is_empty() {
        return Err(RescueError::NothingReadable { dir: dir.to_owned(), reason });
    }
    let (marked, mut notes) = self::marked(marked);
    notes.push(LostEntries::of_store(format!(
        "{reason}; its records were looked for one by one, so the newest entries of a branch may be missing without a \
         sign, and deleted branches may be back"
    )));
    let shared = Shared::new(Box::new(found.into_backend()?));
    Ok(Damaged { shared, marked, notes })
}

/// Requires that everything can be read, and that nothing is missing as far as the watermark tells.
fn require_whole(shared: &Shared, expected_commits: u64) -> Result<(), String> {
    if shared.scan(vec![0]..vec![u8::MAX]).any(|record| record.is_err()) {
        return Err("sled cannot read all of it".to_owned());
    }
    match shared.read_store() {
        Ok(record) if record.now.commits < expected_commits => {
            Err("the records are older than the file `WATERMARK`".to_owned())
        }
        Ok(_) => Ok(()),
        Err(error) => Err(reason_of(error)),
    }
}

/// Sound records from wherever they could be found, the newest of each.
#[derive(Default)]
struct Found {
    records: BTreeMap<Vec<u8>, Vec<u8>>,
    /// What may be pieces of long values, by their keys, in every version.
    pieces: BTreeMap<Vec<u8>, BTreeSet<Vec<u8>>>,
    /// What may say of how many pieces a value is made.
    counts: BTreeSet<(Vec<u8>, u32)>,
}

impl Found {
    /// Adds a record if its check is right and it is newer than the one that is there.
    fn add(&mut self, key: &[u8], value: &[u8]) {
        if pieces::owner_of(key).is_some() {
            self.pieces.entry(key.to_vec()).or_default().insert(value.to_vec());
            return;
        }
        if let Some(count) = pieces::count(value) {
            self.counts.insert((key.to_vec(), count));
            return;
        }
        if record::unseal(key, value).is_err() {
            return;
        }
        let known = self.records.get(key);
        if known.is_none_or(|known| age(key, known) < age(key, value)) {
            self.records.insert(key.to_vec(), value.to_vec());
        }
    }

    /// Adds the long values whose pieces are all there, in whichever versions make a sound record.
    fn join_pieces(&mut self) {
        for (key, count) in std::mem::take(&mut self.counts) {
            let mut values = vec![Vec::new()];
            for number in 0..count {
                let Some(versions) = self.pieces.get(&pieces::key_of(&key, number)) else {
                    values.clear();
                    break;
                };
                let with = |value: &Vec<u8>| {
                    versions.iter().map(|piece| [value.as_slice(), piece].concat()).collect()
                };
                values = values.iter().flat_map::<Vec<_>, _>(with).take(VERSIONS_MAX).collect();
            }
            for value in values {
                self.add(&key, &value);
            }
        }
    }

    fn into_backend(self) -> Result<MemoryBackend, RescueError> {
        let backend = MemoryBackend::new();
        let changes = self.records.into_iter().map(|(key, value)| Change { key, value: Some(value) });
        backend.write(&changes.collect::<Vec<_>>()).map_err(StoreError::from)?;
        Ok(backend)
    }
}

/// Gives a number that only grows when a record is written again. Entries are never written otherwise than before.
fn age(key: &[u8], value: &[u8]) -> Option<u64> {
    match key.first()? {
        b's' => record::read::<StoreRecord>("", key, value).ok().map(|record| record.now.commits),
        b'm' => record::read::<MatchRecord<'_>>("", key, value).ok().map(|record| record.branches),
        b'b' => record::read::<BranchRecord>("", key, value).ok().map(|record| record.id),
        b'h' => record::read::<HeadRecord>("", key, value).ok().map(|record| record.seq),
        _ => None,
    }
}

/// Takes over the watermark, or says what it is missing for.
pub(super) fn marked(read: Result<Option<Watermark>, BackendError>) -> (Option<Watermark>, Vec<LostEntries>) {
    let (marked, state) = match read {
        Ok(Some(marked)) => (Some(marked), None),
        Ok(None) => (None, Some("missing")),
        Err(_) => (None, Some("unreadable")),
    };
    let note =
        |state| format!("the file `WATERMARK` is {state}; whether the newest entries are there is not known");
    (marked, state.map(|state| LostEntries::of_store(note(state))).into_iter().collect())
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
    let backend = DiskBackend::open(copy, lock).map_err(|error| error.to_string())?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key;

    /// A long record that was written twice lies in sled's file in pieces of both versions; the newer one is found.
    #[test]
    fn long_values_are_put_together_from_pieces_in_the_raw_file() {
        let dir = tempfile::tempdir().unwrap();
        let genesis: Vec<u8> = (0..=250).cycle().take(40_000).collect();
        let key = key::of_match(&"m".parse().unwrap());
        let backend = DiskBackend::open(dir.path(), Lock::take(dir.path()).unwrap()).unwrap();
        for branches in [1, 2] {
            let change = record::put(key.clone(), &MatchRecord { id: 1, branches, genesis: &genesis });
            backend.write(&[change]).unwrap();
            backend.flush().unwrap();
        }
        drop(backend);
        let mut found = Found::default();
        raw::each_candidate(&dir.path().join(SLED_DIR).join("db"), &mut |key, value| found.add(&key, value))
            .unwrap();
        assert!(!found.records.contains_key(&key), "it lies there in pieces only");
        found.join_pieces();
        let value = &found.records[&key];
        let MatchRecord { branches, genesis: saved, .. } = record::read("the match", &key, value).unwrap();
        assert_eq!((branches, saved), (2, genesis.as_slice()));
        found.records.clear();
        // Beside the pieces the file holds what only looks like one.
        assert!(found.pieces.remove(&pieces::key_of(&key, 3)).is_some());
        found.counts.insert((key, 8));
        found.join_pieces();
        assert!(found.records.is_empty(), "with a piece missing there is no record");
    }
}
