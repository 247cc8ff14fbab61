//! The index: the records in sled (ST-14). It is opened, or built from the journal if it is missing or unsound.

pub(crate) mod tree;

use std::cmp::Reverse;
use std::path::Path;
use std::{fs, io};

use crate::local::backend::{Backend, BackendError};
use crate::local::files::{self, or_gone, read_at_most, sync_dir, write_at};
use crate::local::index::tree::{IndexTree, folder, wait_until_closed};
use crate::local::journal::commit::{Point, SEALED_BYTES, Salt, seal, unseal};
use crate::local::journal::{Image, damaged};
use crate::local::key;
use crate::local::record::StoreRecord;
use crate::local::replay::replay_strictly;
use crate::local::staging::Staging;

/// The file that exists while sled opens an index. If it is found later, a process died while sled did so, or the index
/// proved damaged.
const OPENING_FILE: &str = "opening";

/// The content of that file while an index is opened although the file already existed.
const AGAIN: &str = "again\n";

/// The folder in which an index is built. It becomes an index when it is renamed to a number.
const BUILDING: &str = "building";

/// The file that records the last commit of an index, and the kind of its check.
const REACHED_FILE: &str = "reached";
const REACHED: &str = "turnfold v2 reached";

pub(crate) type OnBuilding<'a> = &'a mut dyn FnMut(u64, u64);

const CHUNK_BYTES: usize = 4 * 1024 * 1024;

pub(crate) enum FoundIndex {
    /// The index is at the commit that the journal's segments end with.
    Sound(IndexTree),
    /// The journal names no index that can be trusted.
    Unnamed,
    /// The index must be built again, for this reason.
    Damaged(String),
    /// The index is sound, but has this number of commits, more than the journal.
    Ahead(u64),
}

fn numbers(sled: &Path) -> Vec<u32> {
    let mut found = Vec::new();
    let Ok(entries) = fs::read_dir(sled) else { return found };
    for entry in entries.flatten() {
        found.extend(entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()));
    }
    found
}

fn indexes(sled: &Path) -> Vec<u32> {
    let mut found = numbers(sled);
    found.retain(|number| folder(sled, *number).join("db").is_file());
    found.sort_unstable();
    found
}

/// Opens the index that the journal names, which must not have been written to since it was synced (ST-15).
///
/// # Errors
/// Returns errors of its files other than damage.
pub(crate) fn open_sound(sled: &Path, image: &Image) -> Result<FoundIndex, BackendError> {
    // The file shows that opening the index did not complete before, or that the index proved damaged.
    if image.index == 0 || sled.join(OPENING_FILE).exists() {
        return Ok(FoundIndex::Unnamed);
    }
    let dir = folder(sled, image.index);
    if !dir.join("db").is_file() {
        return Ok(FoundIndex::Damaged(format!("`{}` is missing", dir.display())));
    }
    let (tree, store) = match open_marked(sled, image.index) {
        Ok(opened) => opened,
        Err(BackendError::Damaged(reason)) => return Ok(FoundIndex::Damaged(reason)),
        Err(error) => return Err(error),
    };
    if let Some(store) = store {
        if store.journal != image.salt {
            return Ok(FoundIndex::Damaged("it belongs to another journal".to_owned()));
        }
        if store.end.number > image.end.number {
            return Ok(FoundIndex::Ahead(store.end.number));
        }
        if store.end == image.packed {
            return Ok(FoundIndex::Sound(tree));
        }
    }
    Ok(FoundIndex::Damaged("it is not up to where the journal says".to_owned()))
}

/// Returns `true` if the index that a journal names is known to end with the last commit of the segments, so that it
/// has no commit that the journal lacks.
pub(crate) fn has_reached(sled: &Path, image: &Image) -> bool {
    image.index != 0 && read_reached(&folder(sled, image.index), &image.salt) == Some(image.packed)
}

fn open_marked(sled: &Path, number: u32) -> Result<(IndexTree, Option<StoreRecord>), BackendError> {
    let before = read_mark(sled);
    mark(sled, if before.is_some() { AGAIN } else { "" })?;
    let opened = open(sled, number);
    match before {
        Some(text) => mark(sled, &text)?,
        None => unmark(sled),
    }
    opened
}

fn open(sled: &Path, number: u32) -> Result<(IndexTree, Option<StoreRecord>), BackendError> {
    let tree = IndexTree::open(folder(sled, number), number)?;
    let Some(value) = tree.get(key::STORE)? else { return Ok((tree, None)) };
    let store = StoreRecord::read(&value)?;
    Ok((tree, Some(store)))
}

/// Opens every readable index, whatever the journal records, and returns those with the most commits first. `sled` must
/// be a folder of copies, because sled changes what it opens.
pub(crate) fn open_all(sled: &Path) -> Vec<(IndexTree, StoreRecord)> {
    let mut found = Vec::new();
    for number in indexes(sled) {
        if let Ok((tree, Some(store))) = open(sled, number) {
            found.push((tree, store));
        }
    }
    found.sort_by_key(|(_, store)| Reverse(store.end.number));
    found
}

/// The number of an index, and its record about the store.
type Extent = (u32, StoreRecord);

/// Reads the extents of all indexes except one. If a process died twice while sled opened an index, it opens none.
fn look(sled: &Path, except: Option<u32>) -> Result<Vec<Extent>, BackendError> {
    if read_mark(sled).is_some_and(|text| text == AGAIN) {
        tracing::debug!("no index is looked at: a process died twice while sled opened one");
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    for number in indexes(sled) {
        if Some(number) == except {
            continue;
        }
        match open_marked(sled, number) {
            Ok((_, Some(store))) => found.push((number, store)),
            Ok((tree, None)) => {
                if tree.is_empty().unwrap_or(false) {
                    found.push((number, StoreRecord::EMPTY));
                }
            }
            Err(BackendError::Damaged(reason)) => {
                tracing::debug!(reason, number, "an index cannot be opened");
            }
            Err(error) => return Err(error),
        }
    }
    Ok(found)
}

/// Reports commits that the journal lacks and an index has. It skips the index in use. The caller must keep other
/// processes from writing.
pub(crate) fn behind(
    sled: &Path,
    journal: &StoreRecord,
    in_use: Option<u32>,
) -> Result<Option<String>, BackendError> {
    match require_commits(&look(sled, in_use)?, &journal.journal, journal.end.number) {
        Ok(()) => Ok(None),
        Err(error) => Ok(Some(error.to_string())),
    }
}

/// Requires the journal to have all commits that its indexes have (ST-15).
fn require_commits(known: &[Extent], salt: &Salt, end: u64) -> Result<(), BackendError> {
    let mut commits = 0;
    for (_, store) in known {
        if store.journal == *salt {
            commits = commits.max(store.end.number);
        }
    }
    if commits > end { Err(missing(commits, end)) } else { Ok(()) }
}

pub(crate) fn missing(commits: u64, end: u64) -> BackendError {
    damaged(match commits - end {
        1 => format!("commit {commits}, the last that its index has, is missing"),
        missing => format!("the last {missing} of {commits} commits are missing, which its index has"),
    })
}

/// Opens the index of a store that is locked for writing, or builds a new one if it is unsound (ST-7).
pub(crate) fn open_or_build(
    sled: &Path,
    image: &Image,
    observe: OnBuilding<'_>,
) -> Result<IndexTree, BackendError> {
    let found = open_sound(sled, image)?;
    let sound = if let FoundIndex::Sound(tree) = &found { Some(tree.number) } else { None };
    // Unsound indexes are removed in the end. They are checked first, because one may be all that is left of lost
    // commits.
    let known = look(sled, sound)?;
    require_commits(&known, &image.salt, image.end.number)?;
    match found {
        FoundIndex::Sound(tree) => {
            // Earlier builds do not write the file.
            if !has_reached(sled, image)
                && let Err(error) = write_reached(&tree.dir, &image.salt, image.packed)
            {
                tracing::debug!(%error, "readers open the index");
            }
            return Ok(tree);
        }
        FoundIndex::Ahead(commits) => return Err(missing(commits, image.end.number)),
        FoundIndex::Unnamed if image.end.number > 0 => {
            tracing::info!("the index is built again from the journal: the store was not closed");
        }
        FoundIndex::Unnamed => {}
        FoundIndex::Damaged(reason) => tracing::warn!(reason, "the index is built again from the journal"),
    }
    BackendError::on(sled, "create", files::create_dir(sled))?;
    let mut reached = 0;
    let built = build(sled, image, &known, &mut reached, observe);
    if built.is_err() {
        clean_up(sled, image, &known, reached);
    }
    built
}

/// Builds an index of all commits in the segments, durably, and gives it the next number (ST-7, ST-17). `reached` is the
/// last commit that was replayed.
fn build(
    sled: &Path,
    image: &Image,
    known: &[Extent],
    reached: &mut u64,
    observe: OnBuilding<'_>,
) -> Result<IndexTree, BackendError> {
    let number = numbers(sled).into_iter().max().unwrap_or(0).max(image.index) + 1;
    let dir = sled.join(BUILDING);
    BackendError::on(&dir, "remove", or_gone(fs::remove_dir_all(&dir)))?;
    let tree = IndexTree::create(&dir, number)?;
    let mut staging = Staging::over(&tree, StoreRecord::before(&image.salt));
    image.each_commit(true, &mut |point, _, body| {
        if point.number > image.packed.number {
            return Ok(());
        }
        replay_strictly(&mut staging, point, body)?;
        require_same_history(known, &image.salt, point)?;
        *reached = point.number;
        if staging.bytes() >= CHUNK_BYTES {
            tree.absorb(staging.take_changes())?;
            observe(point.number, image.packed.number);
        }
        Ok(())
    })?;
    tree.absorb(staging.take_changes())?;
    write_reached(&tree.dir, &image.salt, image.packed)?;
    tree.settle()?;
    drop(tree);
    wait_until_closed(&dir);
    BackendError::on(&dir, "name", fs::rename(&dir, folder(sled, number)).and_then(|()| sync_dir(sled)))?;
    Ok(open_marked(sled, number)?.0)
}

/// Removes what a failed build of the index left. Earlier versions of this program left it under a number. So this also
/// removes every index whose commits were all replayed, except the one with the most commits.
fn clean_up(sled: &Path, image: &Image, known: &[Extent], reached: u64) {
    let mut ours = Vec::new();
    for (number, store) in known {
        if store.journal == image.salt || *store == StoreRecord::EMPTY {
            ours.push((store.end.number, folder(sled, *number)));
        }
    }
    // A stable sort, so that of two with equally many commits the first stays.
    ours.sort_by_key(|(commits, _)| Reverse(*commits));
    let mut parts = vec![sled.join(BUILDING)];
    for (commits, index) in ours.into_iter().skip(1) {
        if commits <= reached {
            parts.push(index);
        }
    }
    for part in parts {
        if let Err(error) = or_gone(fs::remove_dir_all(part)) {
            tracing::debug!(%error, "a part of an index stays");
        }
    }
}

/// Requires an index that ends with this commit to have the same digest (ST-15).
fn require_same_history(known: &[Extent], salt: &Salt, point: Point) -> Result<(), BackendError> {
    let number = point.number;
    for (_, store) in known {
        if store.journal == *salt && store.end.number == number && store.end != point {
            return Err(damaged(format!("its first {number} commits are not the ones that its index has")));
        }
    }
    Ok(())
}

pub(crate) fn keep_only(sled: &Path, kept: u32) {
    let mut others = vec![sled.join(BUILDING)];
    for number in numbers(sled) {
        if number != kept {
            others.push(folder(sled, number));
        }
    }
    for other in others {
        if let Err(error) = or_gone(fs::remove_dir_all(other)) {
            tracing::debug!(%error, "an earlier index stays");
        }
    }
    unmark(sled);
}

pub(crate) fn distrust(sled: &Path) -> Result<(), BackendError> {
    // No index is trusted at the next opening, because sled failed in one.
    mark(sled, "")
}

fn mark(sled: &Path, text: &str) -> Result<(), BackendError> {
    let path = sled.join(OPENING_FILE);
    let file = files::options().write(true).create(true).truncate(true).open(&path);
    let mut file = BackendError::on(&path, "create", file)?;
    BackendError::on(&path, "create", io::Write::write_all(&mut file, text.as_bytes()))
}

fn read_mark(sled: &Path) -> Option<String> {
    let path = sled.join(OPENING_FILE);
    if !path.exists() {
        return None;
    }
    let text = files::read_at_most(&path, AGAIN.len() as u64 + 1).unwrap_or_default();
    Some(String::from_utf8_lossy(&text).into_owned())
}

fn unmark(sled: &Path) {
    if let Err(error) = or_gone(fs::remove_file(sled.join(OPENING_FILE))) {
        tracing::debug!(%error, "the index will be built again");
    }
}

/// Returns the last commit that the index in this folder may have; `None` if its file is missing or unsound.
fn read_reached(index: &Path, salt: &Salt) -> Option<Point> {
    let bytes = read_at_most(&index.join(REACHED_FILE), SEALED_BYTES as u64 + 1).ok()?;
    if bytes.len() == SEALED_BYTES { unseal(REACHED, salt, &bytes) } else { None }
}

/// Records the last commit that an index will have, durably, in a file next to the database. A reader compares it with
/// the journal without sled, whose start takes longer than to read a small journal (ST-23). The index must not have the
/// commit before, and the segments must.
pub(crate) fn write_reached(index: &Path, salt: &Salt, point: Point) -> Result<(), BackendError> {
    let path = index.join(REACHED_FILE);
    let file = files::options().write(true).create(true).truncate(false).open(&path);
    let file = BackendError::on(&path, "write", file)?;
    BackendError::on(&path, "write", write_at(&file, 0, &seal(REACHED, salt, point)))?;
    BackendError::on(&path, "write", file.sync_data())
}
