//! The possible contents of a disk after a power cut: everything that was synced, and any part of the rest that the
//! order of writes permits.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use turnfold_core::dice::DiceStream;

use crate::tape::{Event, FileId, Synced, moved};

const SECTOR_BYTES: u64 = 512;

/// Seeded choices.
pub(crate) struct Chance(DiceStream);

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        Self(DiceStream::new(&[41; 32], seed))
    }

    /// Draws one of `0..count`.
    pub(crate) fn below(&mut self, count: usize) -> usize {
        let last = i32::try_from(count).unwrap() - 1;
        usize::try_from(self.0.draw(0, last.max(0))).unwrap()
    }
}

/// Which unsynced operations are lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Loss {
    /// None, as when only the process was killed.
    Nothing,
    /// All.
    Everything,
    /// Those after a moment, which is chosen for each file and folder.
    AfterAMoment,
    /// Any, each completely or not at all.
    Operations,
    /// Any sectors of every write: torn writes.
    Sectors,
    /// All sectors of every write but the first and the last.
    Insides,
}

impl Loss {
    pub(crate) const ALL: [Self; 6] =
        [Self::Nothing, Self::Everything, Self::AfterAMoment, Self::Operations, Self::Sectors, Self::Insides];
}

/// Which syncs count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trust {
    /// All syncs.
    AllSyncs,
    /// All but the syncs of heads.
    NotTheHeads,
    /// All but the syncs of segments.
    NotTheSegments,
}

#[derive(Clone, Debug)]
enum RecordChange {
    Write { at: u64, bytes: Vec<u8> },
    SetLength(u64),
}

#[derive(Clone, Debug)]
enum Naming {
    File(PathBuf, FileId),
    Folder(PathBuf),
    Rename(PathBuf, PathBuf),
    Removal(PathBuf),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Named {
    File(FileId),
    Folder,
}

/// A disk while operations are carried out on it, with its synced and its unsynced state.
#[derive(Debug)]
pub(crate) struct Disk {
    trust: Trust,
    files: BTreeMap<FileId, (Vec<u8>, Vec<RecordChange>)>,
    names: BTreeMap<PathBuf, Named>,
    /// Unsynced changes of names by folder. Folders between which something was renamed share one list, because file
    /// systems keep the order of such changes.
    namings: BTreeMap<PathBuf, Vec<Naming>>,
    /// The folders whose changes are in the list of another folder.
    tied: BTreeMap<PathBuf, PathBuf>,
}

/// The files of a disk, and its folders, which have no content.
pub(crate) type Image = BTreeMap<PathBuf, Option<Vec<u8>>>;

impl Disk {
    /// Returns an empty disk with the folder `root`.
    pub(crate) fn new(root: &Path, trust: Trust) -> Self {
        let names = BTreeMap::from([(root.to_owned(), Named::Folder)]);
        Self { trust, files: BTreeMap::new(), names, namings: BTreeMap::new(), tied: BTreeMap::new() }
    }

    pub(crate) fn carry_out(&mut self, event: &Event) {
        match event {
            Event::MakeFile { path, file } => {
                self.files.insert(*file, (Vec::new(), Vec::new()));
                self.name(path, Naming::File(path.clone(), *file));
            }
            Event::MakeFolder { path } => self.name(path, Naming::Folder(path.clone())),
            Event::Rename { from, to } => self.name(to, Naming::Rename(from.clone(), to.clone())),
            Event::Remove { path } => self.name(path, Naming::Removal(path.clone())),
            Event::Write { file, at, bytes } => {
                self.change(*file, RecordChange::Write { at: *at, bytes: bytes.clone() });
            }
            Event::SetLength { file, length } => self.change(*file, RecordChange::SetLength(*length)),
            Event::Sync { of: Synced::Head, .. } if self.trust == Trust::NotTheHeads => {}
            Event::Sync { of: Synced::Segment, .. } if self.trust == Trust::NotTheSegments => {}
            Event::Sync { file, .. } => {
                let (content, changes) = self.files.get_mut(file).unwrap();
                for change in changes.drain(..) {
                    apply(content, &change);
                }
            }
            Event::SyncFolder { path } => {
                let folder = self.kept_with(path).to_owned();
                for naming in self.namings.remove(&folder).unwrap_or_default() {
                    give_name(&mut self.names, &naming);
                }
            }
            Event::Progress(_) => {}
        }
    }

    fn kept_with<'a>(&'a self, folder: &'a Path) -> &'a Path {
        self.tied.get(folder).map_or(folder, PathBuf::as_path)
    }

    /// Adds a change of names. Pending changes below a renamed folder move to its new name; those below a removed
    /// folder are dropped.
    fn name(&mut self, path: &Path, naming: Naming) {
        match &naming {
            Naming::Rename(from, to) => {
                let [source, target] = [from, to].map(|path| path.parent().unwrap());
                let [source, target] = [source, target].map(|folder| self.kept_with(folder).to_owned());
                if source != target {
                    let moved = self.namings.remove(&source).unwrap_or_default();
                    self.namings.entry(target.clone()).or_default().extend(moved);
                    self.tied.insert(source.clone(), target.clone());
                    for kept_with in self.tied.values_mut().filter(|kept_with| **kept_with == source) {
                        kept_with.clone_from(&target);
                    }
                }
                for (folder, below) in std::mem::take(&mut self.namings) {
                    self.namings.insert(moved(&folder, from, to).unwrap_or(folder), below);
                }
            }
            Naming::Removal(path) => self.namings.retain(|folder, _| !folder.starts_with(path)),
            _ => {}
        }
        let folder = self.kept_with(path.parent().unwrap()).to_owned();
        self.namings.entry(folder).or_default().push(naming);
    }

    fn change(&mut self, file: FileId, change: RecordChange) {
        self.files.get_mut(&file).unwrap().1.push(change);
    }

    /// Returns one of the images that a power cut may leave.
    pub(crate) fn image(&self, loss: Loss, chance: &mut Chance) -> Image {
        let mut names = self.names.clone();
        for namings in self.namings.values() {
            for (naming, kept) in namings.iter().zip(kept(namings.len(), loss, chance)) {
                if kept {
                    give_name(&mut names, naming);
                }
            }
        }
        let folders = names.iter().filter(|(_, named)| **named == Named::Folder);
        let folders: BTreeSet<_> = folders.map(|(path, _)| path.clone()).collect();
        let root = self.names.first_key_value().unwrap().0.clone();
        // The contents of a folder are lost if its name is lost.
        names.retain(|path, _| {
            path.ancestors()
                .skip(1)
                .take_while(|above| above.starts_with(&root))
                .all(|above| folders.contains(above))
        });
        let content = |named: &Named, chance: &mut Chance| match named {
            Named::Folder => None,
            Named::File(file) => {
                let (synced, changes) = &self.files[file];
                Some(after_loss(synced, changes, loss, chance))
            }
        };
        names.iter().map(|(path, named)| (path.clone(), content(named, chance))).collect()
    }
}

/// Chooses which of some operations are kept.
fn kept(count: usize, loss: Loss, chance: &mut Chance) -> Vec<bool> {
    let moment = chance.below(count + 1);
    let one = |place| match loss {
        Loss::Nothing | Loss::Insides => true,
        Loss::Everything => false,
        Loss::AfterAMoment => place < moment,
        Loss::Operations | Loss::Sectors => chance.below(2) == 0,
    };
    (0..count).map(one).collect()
}

fn give_name(names: &mut BTreeMap<PathBuf, Named>, naming: &Naming) {
    match naming {
        Naming::File(path, file) => _ = names.insert(path.clone(), Named::File(*file)),
        Naming::Folder(path) => _ = names.insert(path.clone(), Named::Folder),
        Naming::Removal(path) => names.retain(|below, _| !below.starts_with(path)),
        Naming::Rename(from, to) => {
            // If the creation was lost, there is nothing to rename.
            if names.contains_key(from) {
                names.retain(|path, _| !path.starts_with(to));
            }
            for (path, named) in std::mem::take(names) {
                names.insert(moved(&path, from, to).unwrap_or(path), named);
            }
        }
    }
}

fn apply(content: &mut Vec<u8>, change: &RecordChange) {
    match change {
        RecordChange::Write { at, bytes } => write(content, *at, bytes),
        RecordChange::SetLength(length) => content.resize(usize::try_from(*length).unwrap(), 0),
    }
}

fn write(content: &mut Vec<u8>, at: u64, bytes: &[u8]) {
    let at = usize::try_from(at).unwrap();
    let end = at + bytes.len();
    if content.len() < end {
        content.resize(end, 0);
    }
    content[at..end].copy_from_slice(bytes);
}

/// Returns a possible content of a file. A sector that has a later write has the earlier ones too, because they were in
/// the same page of memory when it was written.
fn after_loss(synced: &[u8], changes: &[RecordChange], loss: Loss, chance: &mut Chance) -> Vec<u8> {
    let mut content = synced.to_vec();
    let kept = kept(changes.len(), loss, chance);
    // For each sector, the last of the writes that reached the disk.
    let mut reached = BTreeMap::<u64, usize>::new();
    for (place, change) in changes.iter().enumerate() {
        let RecordChange::Write { at, bytes } = change else { continue };
        let sectors = at / SECTOR_BYTES..(at + bytes.len() as u64).div_ceil(SECTOR_BYTES);
        for sector in sectors.clone() {
            let here = match loss {
                Loss::Sectors => chance.below(2) == 0,
                Loss::Insides => sector == sectors.start || sector + 1 == sectors.end,
                _ => kept[place],
            };
            if here {
                reached.insert(sector, place);
            }
        }
    }
    for (place, change) in changes.iter().enumerate() {
        match change {
            RecordChange::SetLength(_) if kept[place] => apply(&mut content, change),
            RecordChange::SetLength(_) => {}
            RecordChange::Write { at, bytes } => {
                let end = at + bytes.len() as u64;
                for sector in at / SECTOR_BYTES..end.div_ceil(SECTOR_BYTES) {
                    if reached.get(&sector).is_some_and(|last| place <= *last) {
                        let from = (*at).max(sector * SECTOR_BYTES);
                        let until = end.min((sector + 1) * SECTOR_BYTES);
                        let part = usize::try_from(from - at).unwrap()..usize::try_from(until - at).unwrap();
                        write(&mut content, from, &bytes[part]);
                    }
                }
            }
        }
    }
    content
}

/// Writes an image of the folder `root` below the folder `target`.
pub(crate) fn lay_out(image: &Image, root: &Path, target: &Path) {
    for (path, content) in image {
        let path = target.join(path.strip_prefix(root).unwrap());
        match content {
            None => fs::create_dir_all(path).unwrap(),
            Some(bytes) => fs::write(path, bytes).unwrap(),
        }
    }
}
