//! Opening an index, or building the next one where the one there is is not what it should be.

use std::fs;
use std::io;
use std::path::Path;

use super::database::folder;
use super::tree::Tree;
use crate::local::backend::{Backend, BackendError};
use crate::local::dir::files;
use crate::local::journal::image::{Image, damaged};
use crate::local::layout::key;
use crate::local::layout::record::{self, StoreRecord};
use crate::local::replay::replay_strictly;
use crate::local::staging::Staging;

/// The file that is there while sled opens an index: it died in there when it stays.
const OPENING_FILE: &str = "opening";

/// What is called while an index is built, with how many commits are in it, and how many will be.
pub(crate) type OnBuilding<'a> = &'a mut dyn FnMut(u64, u64);

/// How many bytes of changes are collected before they are written.
const CHUNK_BYTES: usize = 4 * 1024 * 1024;

/// An index that was opened.
pub(crate) enum Opened {
    /// It is what the journal records.
    Sound(Tree),
    /// It had to be built again; the journal does not record that yet.
    Built(Tree),
}

/// Returns the numbers of the indexes that are there, complete or not.
fn numbers(sled: &Path) -> Vec<u32> {
    let Ok(entries) = fs::read_dir(sled) else { return Vec::new() };
    entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// Opens the index that the journal names: nothing was written to it since it was synced (ST-15); `None` when the
/// journal names none.
///
/// # Errors
/// [`BackendError::Damaged`] when it has to be built again.
pub(crate) fn open_sound(sled: &Path, image: &Image) -> Result<Option<Tree>, BackendError> {
    // With the file there, an earlier process did not come to the end of opening it, or found it damaged.
    if image.index == 0 || sled.join(OPENING_FILE).exists() {
        return Ok(None);
    }
    let dir = folder(sled, image.index);
    if !dir.join("db").is_file() {
        return Err(BackendError::Damaged(format!("`{}` is missing", dir.display())));
    }
    mark(sled)?;
    let opened = Tree::open(dir, image.index).and_then(|tree| {
        let store = stored(&tree)?;
        Ok((tree, store))
    });
    unmark(sled);
    let (tree, store) = opened?;
    match store {
        Some(store) if store.journal != image.salt => {
            Err(BackendError::Damaged("it belongs to another journal".to_owned()))
        }
        Some(store) if (store.commits, store.digest) == (image.packed.number, image.packed.digest) => {
            Ok(Some(tree))
        }
        _ => Err(BackendError::Damaged("it is not up to where the journal says".to_owned())),
    }
}

/// Opens the newest index, whatever the journal records; it must be a copy, or one that is built again otherwise.
pub(crate) fn open_newest(sled: &Path) -> Option<(Tree, StoreRecord)> {
    let number =
        numbers(sled).into_iter().filter(|number| folder(sled, *number).join("db").is_file()).max()?;
    let tree = Tree::open(folder(sled, number), number).ok()?;
    let store = stored(&tree).ok()??;
    Some((tree, store))
}

/// Requires the journal to have the commits that a sound index records (ST-15).
fn require_commits(sled: &Path, image: &Image) -> Result<(), BackendError> {
    match open_newest(sled) {
        Some((_, store)) if store.journal == image.salt && store.commits > image.end.number => {
            let missing = store.commits - image.end.number;
            Err(damaged(format!("the last {missing} of {} commits are missing", store.commits)))
        }
        _ => Ok(()),
    }
}

fn stored(tree: &Tree) -> Result<Option<StoreRecord>, BackendError> {
    let Some(value) = tree.get(key::STORE)? else { return Ok(None) };
    let body = record::body_of(key::STORE, &value).map_err(BackendError::Damaged)?;
    record::read_body("the record about the store", body).map(Some)
}

/// Opens the index of a store that is held for writing, and builds a new one where it is not sound (ST-7).
pub(crate) fn open_or_build(
    sled: &Path,
    image: &Image,
    observe: OnBuilding<'_>,
) -> Result<Opened, BackendError> {
    match open_sound(sled, image) {
        Ok(Some(tree)) => return Ok(Opened::Sound(tree)),
        Ok(None) if image.end.number > 0 => {
            tracing::info!("the index is built again from the journal: the store was not closed");
        }
        Ok(None) => {}
        Err(BackendError::Damaged(reason)) => {
            require_commits(sled, image)?;
            tracing::warn!(reason, "the index is built again from the journal");
        }
        Err(error) => return Err(error),
    }
    files::create_dir(sled).map_err(|source| BackendError::io("create", sled, source))?;
    let number = numbers(sled).into_iter().max().unwrap_or(0).max(image.index) + 1;
    build(sled, number, image, observe).map(Opened::Built)
}

/// Builds an index of all that lies in the segments, durably (ST-7, ST-17).
fn build(sled: &Path, number: u32, image: &Image, observe: OnBuilding<'_>) -> Result<Tree, BackendError> {
    let tree = Tree::create(sled, number)?;
    let mut staging = Staging::over(&tree, StoreRecord::before(&image.salt));
    image.each_commit(0, true, &mut |point, _, body| {
        if point.number > image.packed.number {
            return Ok(());
        }
        replay_strictly(&mut staging, point, body)?;
        if staging.bytes() >= CHUNK_BYTES {
            tree.absorb(staging.take_changes().0)?;
            observe(point.number, image.packed.number);
        }
        Ok(())
    })?;
    let (changes, _) = staging.take_changes();
    tree.absorb(changes)?;
    tree.settle()?;
    Ok(tree)
}

/// Removes every index but one, and the mark that opening one left.
pub(crate) fn keep_only(sled: &Path, number: u32) {
    for other in numbers(sled).into_iter().filter(|other| *other != number) {
        if let Err(error) = fs::remove_dir_all(folder(sled, other)) {
            tracing::debug!(%error, "an earlier index stays");
        }
    }
    unmark(sled);
}

/// Notes that no index may be trusted the next time: sled failed in one, or is about to open it.
pub(crate) fn mark(sled: &Path) -> Result<(), BackendError> {
    let path = sled.join(OPENING_FILE);
    let made = files::options().write(true).create(true).truncate(true).open(&path);
    made.map(|_| ()).map_err(|source| BackendError::io("create", &path, source))
}

fn unmark(sled: &Path) {
    match fs::remove_file(sled.join(OPENING_FILE)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            tracing::debug!(%error, "the index will be built again");
        }
        _ => {}
    }
}
