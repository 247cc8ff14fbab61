//! The index: the records in sled (ST-14). It is opened, or built from the journal if it is missing or unsound.

pub(crate) mod tree;

use std::path::Path;
use std::{fs, io};

use crate::local::backend::{Backend, BackendError};
use crate::local::files::{read_at_most, sync_dir, write_at};
use crate::local::index::tree::{IndexTree, folder, wait_until_closed};
use crate::local::journal::commit::{Checker, Fields, Point, Salt};
use crate::local::journal::{Image, damaged};
use crate::local::record::StoreRecord;
use crate::local::replay::replay_strictly;
use crate::local::staging::Staging;
use crate::local::{files, key, record};

/// The file that exists while sled opens an index. If it is found later, a process died while sled did so, or the index
/// proved damaged.
const OPENING_FILE: &str = "opening";

/// The content of that file while an index is opened although the file already existed.
const AGAIN: &str = "again\n";

/// The folder in which an index is built. It becomes an index when it is renamed to a number.
const BUILDING: &str = "building";

pub(crate) type OnBuilding<'a> = &'a mut dyn FnMut(u64, u64);

const CHUNK_BYTES: usize = 4 * 1024 * 1024;

/// The index that a journal names, as it was found.
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

pub(crate) enum OpenedIndex {
    /// The index was sound.
    Sound(IndexTree),
    /// The index was built again. The journal does not record that yet.
    Built(IndexTree),
}

type Stored = (IndexTree, Option<StoreRecord>);

fn numbers(sled: &Path) -> Vec<u32> {
    let Ok(entries) = fs::read_dir(sled) else { return Vec::new() };
    entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
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
    let damaged = |reason: &str| Ok(FoundIndex::Damaged(reason.to_owned()));
    match open_marked(sled, image.index) {
        Err(BackendError::Damaged(reason)) => Ok(FoundIndex::Damaged(reason)),
        Err(error) => Err(error),
        Ok((_, Some(store))) if store.journal != image.salt => damaged("it belongs to another journal"),
        Ok((_, Some(store))) if store.commits > image.end.number => Ok(FoundIndex::Ahead(store.commits)),
        Ok((tree, Some(store))) if store.point() == image.packed => Ok(FoundIndex::Sound(tree)),
        Ok(_) => damaged("it is not up to where the journal says"),
    }
}

/// Returns `true` if the index that a journal names is known to end with the last commit of the segments, so that it
/// has no commit that the journal lacks.
pub(crate) fn has_reached(sled: &Path, image: &Image) -> bool {
    image.index != 0 && read_reached(&folder(sled, image.index), &image.salt) == Some(image.packed)
}

/// Opens an index behind the mark. An existing mark is restored afterwards.
fn open_marked(sled: &Path, number: u32) -> Result<Stored, BackendError> {
    let before = read_mark(sled);
    mark(sled, if before.is_some() { AGAIN } else { "" })?;
    let opened = open(sled, number);
    match before {
        Some(text) => mark(sled, &text)?,
        None => unmark(sled),
    }
    opened
}

fn open(sled: &Path, number: u32) -> Result<Stored, BackendError> {
    let tree = IndexTree::open(folder(sled, number), number)?;
    let Some(value) = tree.get(key::STORE)? else { return Ok((tree, None)) };
    let body = record::body_of(key::STORE, &value).map_err(BackendError::Damaged)?;
    let store = record::read_body("the record about the store", body)?;
    Ok((tree, Some(store)))
}

/// Opens every readable index, whatever the journal records, and returns those with the most commits first. `sled` must
/// be a folder of copies, because sled changes what it opens.
pub(crate) fn open_all(sled: &Path) -> Vec<(IndexTree, StoreRecord)> {
    let opened = indexes(sled).into_iter().filter_map(|number| open(sled, number).ok());
    let mut found: Vec<_> = opened.filter_map(|(tree, store)| Some((tree, store?))).collect();
    found.sort_by_key(|(_, store)| std::cmp::Reverse(store.commits));
    found
}

/// The number of an index that can be opened, and its record about the store, if it has one.
type Extent = (u32, Option<StoreRecord>);

/// Reads the extents of all indexes except one. If a process died twice while sled opened an index, it opens none.
fn look(sled: &Path, except: Option<u32>) -> Result<Vec<Extent>, BackendError> {
    if read_mark(sled).is_some_and(|text| text == AGAIN) {
        tracing::debug!("no index is looked at: a process died twice while sled opened one");
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    for number in indexes(sled).into_iter().filter(|number| Some(*number) != except) {
        match open_marked(sled, number) {
            Ok((tree, None)) if tree.is_empty().unwrap_or(false) => {
                found.push((number, Some(StoreRecord::EMPTY)));
            }
            Ok((_, store)) => found.push((number, store)),
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
    let known = look(sled, in_use)?;
    Ok(require_commits(&known, &journal.journal, journal.commits).err().map(|error| error.to_string()))
}

/// Requires the journal to have all commits that its indexes have (ST-15).
fn require_commits(known: &[Extent], salt: &Salt, end: u64) -> Result<(), BackendError> {
    let ours = known.iter().filter_map(|(_, store)| store.as_ref()).filter(|store| store.journal == *salt);
    match ours.map(|store| store.commits).max() {
        Some(commits) if commits > end => Err(missing(commits, end)),
        _ => Ok(()),
    }
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
) -> Result<OpenedIndex, BackendError> {
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
            return Ok(OpenedIndex::Sound(tree));
        }
        FoundIndex::Ahead(commits) => return Err(missing(commits, image.end.number)),
        FoundIndex::Unnamed if image.end.number > 0 => {
            tracing::info!("the index is built again from the journal: the store was not closed");
        }
        FoundIndex::Unnamed => {}
        FoundIndex::Damaged(reason) => tracing::warn!(reason, "the index is built again from the journal"),
    }
    files::create_dir(sled).map_err(|source| BackendError::io("create", sled, source))?;
    let number = numbers(sled).into_iter().max().unwrap_or(0).max(image.index) + 1;
    let mut building = Building { sled, image, known: &known, reached: 0 };
    let built = building.build(number, observe);
    if built.is_err() {
        building.clean_up();
    }
    built.map(OpenedIndex::Built)
}

struct Building<'a> {
    sled: &'a Path,
    image: &'a Image,
    /// The existing indexes.
    known: &'a [Extent],
    /// The last commit that was replayed.
    reached: u64,
}

impl Building<'_> {
    /// Builds an index of all commits in the segments, durably, and gives it its number (ST-7, ST-17).
    fn build(&mut self, number: u32, observe: OnBuilding<'_>) -> Result<IndexTree, BackendError> {
        let dir = self.sled.join(BUILDING);
        self.remove_draft().map_err(|source| BackendError::io("remove", &dir, source))?;
        let tree = IndexTree::create(&dir, number)?;
        self.fill(&tree, observe)?;
        drop(tree);
        wait_until_closed(&dir);
        let named = fs::rename(&dir, folder(self.sled, number)).and_then(|()| sync_dir(self.sled));
        named.map_err(|source| BackendError::io("name", &dir, source))?;
        open_marked(self.sled, number).map(|(tree, _)| tree)
    }

    fn fill(&mut self, tree: &IndexTree, observe: OnBuilding<'_>) -> Result<(), BackendError> {
        let image = self.image;
        let known = self.known;
        let mut staging = Staging::over(tree, StoreRecord::before(&image.salt));
        image.each_commit(0, true, &mut |point, _, body| {
            if point.number > image.packed.number {
                return Ok(());
            }
            replay_strictly(&mut staging, point, body)?;
            require_same_history(known, &image.salt, point)?;
            self.reached = point.number;
            if staging.bytes() >= CHUNK_BYTES {
                tree.absorb(staging.take_changes().0)?;
                observe(point.number, image.packed.number);
            }
            Ok(())
        })?;
        let (changes, _) = staging.take_changes();
        tree.absorb(changes)?;
        write_reached(&tree.dir, &image.salt, image.packed)?;
        tree.settle()
    }

    fn remove_draft(&self) -> io::Result<()> {
        match fs::remove_dir_all(self.sled.join(BUILDING)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Removes what a failed build of the index left. Earlier versions of this program left it under a number. So this
    /// also removes every index whose commits were all replayed, except the one with the most commits.
    fn clean_up(&self) {
        if let Err(error) = self.remove_draft() {
            tracing::debug!(%error, "a part of an index stays");
        }
        let is_ours = |store: &StoreRecord| store.journal == self.image.salt || *store == StoreRecord::EMPTY;
        let commits = |store: &StoreRecord| is_ours(store).then_some(store.commits);
        let extents = self.known.iter().map(|(number, store)| (*number, store.as_ref().and_then(commits)));
        let extents: Vec<_> = extents.collect();
        // `max_by_key` returns the last maximum, so in reverse the first of equal indexes is kept.
        let most = extents.iter().rev().max_by_key(|(_, commits)| *commits).map(|(number, _)| *number);
        for (number, commits) in extents {
            let is_part = commits.is_some_and(|commits| commits <= self.reached);
            if is_part
                && Some(number) != most
                && let Err(error) = fs::remove_dir_all(folder(self.sled, number))
            {
                tracing::debug!(%error, "a part of an index stays");
            }
        }
    }
}

/// Requires an index that ends with this commit to have the same digest (ST-15).
fn require_same_history(known: &[Extent], salt: &Salt, point: Point) -> Result<(), BackendError> {
    let stores = known.iter().filter_map(|(_, store)| store.as_ref());
    let is_other = |store: &StoreRecord| {
        store.journal == *salt && store.commits == point.number && store.digest != point.digest
    };
    if stores.into_iter().any(is_other) {
        let number = point.number;
        return Err(damaged(format!("its first {number} commits are not the ones that its index has")));
    }
    Ok(())
}

/// Removes every index except one, the draft of a failed build, and the mark.
pub(crate) fn keep_only(sled: &Path, number: u32) {
    let Ok(entries) = fs::read_dir(sled) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let other = name.to_str().and_then(|name| name.parse::<u32>().ok()).filter(|other| *other != number);
        if (other.is_some() || name == BUILDING)
            && let Err(error) = fs::remove_dir_all(entry.path())
        {
            tracing::debug!(%error, "an earlier index stays");
        }
    }
    unmark(sled);
}

/// Leaves a mark, so that no index is trusted at the next opening, because sled failed in one.
pub(crate) fn distrust(sled: &Path) -> Result<(), BackendError> {
    mark(sled, "")
}

fn mark(sled: &Path, text: &str) -> Result<(), BackendError> {
    let path = sled.join(OPENING_FILE);
    let made = files::options().write(true).create(true).truncate(true).open(&path);
    let made = made.and_then(|mut file| io::Write::write_all(&mut file, text.as_bytes()));
    made.map_err(|source| BackendError::io("create", &path, source))
}

fn read_mark(sled: &Path) -> Option<String> {
    let path = sled.join(OPENING_FILE);
    path.exists().then(|| {
        let text = files::read_at_most(&path, AGAIN.len() as u64 + 1).unwrap_or_default();
        String::from_utf8_lossy(&text).into_owned()
    })
}

fn unmark(sled: &Path) {
    match fs::remove_file(sled.join(OPENING_FILE)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            tracing::debug!(%error, "the index will be built again");
        }
        _ => {}
    }
}

const REACHED_FILE: &str = "reached";

const CHECK_BYTES: usize = 16;
const REACHED_BYTES: usize = CHECK_BYTES + 8 + 32;

fn encode_reached(salt: &Salt, point: Point) -> Vec<u8> {
    let body = [&point.number.to_le_bytes()[..], point.digest.as_bytes()].concat();
    let check: [u8; CHECK_BYTES] = Checker::new("turnfold v2 reached", salt).check(&[&body]);
    [&check[..], &body].concat()
}

/// Returns the last commit that the index in this folder may have; `None` if its file is missing or unsound.
pub(crate) fn read_reached(index: &Path, salt: &Salt) -> Option<Point> {
    let bytes = read_at_most(&index.join(REACHED_FILE), REACHED_BYTES as u64 + 1).ok()?;
    let mut fields = Fields(bytes.get(CHECK_BYTES..)?);
    let point = Point { number: fields.u64()?, digest: fields.digest()? };
    (bytes == encode_reached(salt, point)).then_some(point)
}

/// Records the last commit that an index will have, durably. The index must not have the commit before, and the
/// segments must.
pub(crate) fn write_reached(index: &Path, salt: &Salt, point: Point) -> Result<(), BackendError> {
    let path = index.join(REACHED_FILE);
    let file = files::options().write(true).create(true).truncate(false).open(&path);
    let written = file.and_then(|file| {
        write_at(&file, 0, &encode_reached(salt, point))?;
        file.sync_data()
    });
    written.map_err(|source| BackendError::io("write", &path, source))
}
