//! Opening a damaged store: whatever is damaged, a failed open and every reader leave all files as they were, so that
//! salvage saves what it saves from a store that nobody has touched.
//!
//! `TURNFOLD_FLIPS=all` flips every bit of the used part of `db` rather than one in so many, and prints the figures.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use turnfold_store::{BranchName, MatchName, RescueError, Store, StoreError, StoreReader};

use crate::damage::{copy, on_all_processors, overwrite_journal};
use crate::session::{entry, genesis};

/// One bit in so many is flipped, and after one flip in so many of these salvage is tried.
const STRIDE: usize = 211;
const SALVAGE_STRIDE: usize = 5;
const SALVAGE_STRIDE_ALL: usize = 101;

/// The entries of each of two branches, one of them a commit of its own each.
const ENTRIES: u64 = 9;

pub(crate) fn is_all() -> bool {
    std::env::var("TURNFOLD_FLIPS").is_ok_and(|which| which == "all")
}

pub(crate) fn duel() -> MatchName {
    "duel".parse().unwrap()
}

pub(crate) fn branches() -> [BranchName; 2] {
    [BranchName::main(), "line".parse().unwrap()]
}

/// Makes a store with some commits in `dir`, each of them in sled; returns it open.
fn make(dir: &Path) -> Store {
    let store = Store::open_or_create_with_journal_of(dir, 0).unwrap();
    store.create_match(&duel(), &genesis(), vec![entry(&[0])]).unwrap();
    let [main, line] = branches();
    store.create_branch(&duel(), &line, &main, 1).unwrap();
    for head in 1..ENTRIES {
        for branch in [&main, &line] {
            let label = u8::try_from(head).unwrap();
            store.append(&duel(), branch, head, vec![entry(&[label])], None).unwrap();
        }
    }
    store
}

/// Every file below a folder but the locked one, which names a process.
pub(crate) fn files_in(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for path in fs::read_dir(dir).unwrap().map(|file| file.unwrap().path()) {
        if path.is_dir() {
            found.extend(files_in(&path));
        } else if !path.ends_with("LOCK") {
            found.insert(path.clone(), fs::read(path).unwrap());
        }
    }
    found
}

fn used(db: &[u8]) -> usize {
    db.iter().rposition(|byte| *byte != 0).unwrap() + 1
}

pub(crate) fn flip(db: &Path, bit: usize) {
    let file = fs::File::options().read(true).write(true).open(db).unwrap();
    let mut byte = [0];
    file.read_exact_at(&mut byte, bit as u64 / 8).unwrap();
    byte[0] ^= 1 << (bit % 8);
    file.write_all_at(&byte, bit as u64 / 8).unwrap();
}

/// What readers said of damage, and what salvage made of it.
#[derive(Clone, Copy, Debug, Default)]
struct Figures {
    flips: u64,
    /// Not opened for reading.
    refused: u64,
    /// Opened, and the damage named by what is concerned.
    named: u64,
    /// All is served: the damage is in bytes that do not count.
    served: u64,
    /// Salvages tried, and those that saved everything.
    salvaged: u64,
    saved_whole: u64,
    /// Opened for writing before that.
    opened: u64,
}

/// Asks all that a verb could ask; `true` when everything was served.
pub(crate) fn read_all(dir: &Path, least: u64) -> Result<bool, StoreError> {
    let store = StoreReader::open(dir)?;
    let mut is_served = store.matches().is_ok_and(|found| found.len() == 1);
    for branch in branches() {
        match store.read(&duel(), &branch, None) {
            Ok(log) => assert!(log.head >= least, "{branch} is served shorter: {}", log.head),
            Err(_) => is_served = false,
        }
        is_served &= store.head(&duel(), &branch).is_ok();
    }
    let audited = store.audit(&duel()).is_ok_and(|audit| audit.damage.is_empty());
    let checked = store.check(&mut |_| ()).is_ok_and(|check| check.damage.is_empty());
    Ok(is_served && audited && checked)
}

/// How many entries salvage saves of a store.
pub(crate) fn salvage(dir: &Path, new_dir: &Path) -> u64 {
    let saved = match Store::salvage(dir, new_dir, &mut |_| ()) {
        Ok(salvage) => salvage.saved.entries,
        Err(RescueError::NothingReadable { .. }) => 0,
        Err(error) => panic!("{error}"),
    };
    let _ = fs::remove_dir_all(new_dir);
    saved
}

/// A store in a folder of its own, of which bits are flipped.
struct Flips {
    folder: TempDir,
    sound: BTreeMap<PathBuf, Vec<u8>>,
    figures: Figures,
}

impl Flips {
    fn of(sound: &Path) -> Self {
        let folder = tempfile::tempdir().unwrap();
        copy(sound, &folder.path().join("store"));
        let sound = files_in(&folder.path().join("store"));
        Self { folder, sound, figures: Figures::default() }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn require_unchanged(&self, damaged: &[u8], what: &str) {
        let (dir, db) = (self.at("store"), self.at("store/sled/db"));
        let found = files_in(&dir);
        for (path, bytes) in &self.sound {
            let expected = if *path == db { damaged } else { bytes };
            assert!(found.get(path).is_some_and(|found| found == expected), "{what}: {}", path.display());
        }
        assert_eq!(found.len(), self.sound.len(), "{what}: a file more");
    }

    fn read(&mut self, bit: usize) {
        let (dir, db) = (self.at("store"), self.at("store/sled/db"));
        flip(&db, bit);
        let mut damaged = self.sound[&db].clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        self.figures.flips += 1;
        *match read_all(&dir, ENTRIES) {
            Ok(true) => &mut self.figures.served,
            Ok(false) => &mut self.figures.named,
            Err(_) => &mut self.figures.refused,
        } += 1;
        self.require_unchanged(&damaged, &format!("bit {bit}"));
        flip(&db, bit);
    }

    /// Compares what salvage saves with and without readers and an attempt to write before it.
    fn salvage(&mut self, bit: usize) {
        let (dir, untouched) = (self.at("store"), self.at("untouched"));
        flip(&dir.join("sled/db"), bit);
        let damaged = fs::read(dir.join("sled/db")).unwrap();
        copy(&dir, &untouched);
        let _ = read_all(&dir, ENTRIES);
        match Store::open(&dir) {
            Ok(store) => {
                self.figures.opened += 1;
                store.close().unwrap();
            }
            Err(error) => self.require_unchanged(&damaged, &format!("bit {bit}: {error}")),
        }
        let [before, after] = [&untouched, &dir].map(|dir| salvage(dir, &self.at("new")));
        assert!(after >= before, "bit {bit}: {after} entries saved, {before} from the untouched store");
        self.figures.salvaged += 1;
        self.figures.saved_whole += u64::from(after == 2 * ENTRIES - 1);
        for dir in [&dir, &untouched] {
            fs::remove_dir_all(dir).unwrap();
        }
        for (path, bytes) in &self.sound {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        }
    }
}

#[test]
#[expect(clippy::print_stderr, reason = "how much it tried is worth knowing")]
fn whichever_bit_is_flipped_readers_change_nothing_and_salvage_saves_as_much_after_them() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("store");
    make(&dir).close().unwrap();
    overwrite_journal(&dir);
    let used = used(&fs::read(dir.join("sled/db")).unwrap());
    let (stride, salvage_stride) =
        if is_all() { (1, SALVAGE_STRIDE_ALL) } else { (STRIDE, STRIDE * SALVAGE_STRIDE) };
    let figures = on_all_processors(|worker, workers| {
        let mut flips = Flips::of(&dir);
        for bit in (0..used * 8).step_by(stride).skip(worker).step_by(workers) {
            flips.read(bit);
        }
        for bit in (0..used * 8).step_by(salvage_stride).skip(worker).step_by(workers) {
            flips.salvage(bit);
        }
        flips.figures
    });
    eprintln!("{used} bytes used; by worker: {figures:?}");
    assert!(figures.iter().all(|figures| figures.refused > figures.served && figures.saved_whole > 0));
}

/// OP-13 and OP-20: of a store that was not closed, at most the last commit can be taken for one that was torn.
#[test]
fn damage_in_a_store_that_was_not_closed_never_hides_more_than_its_last_commit() {
    let folder = tempfile::tempdir().unwrap();
    let (live, dir) = (folder.path().join("live"), folder.path().join("store"));
    let store = make(&live);
    copy(&live, &dir);
    store.close().unwrap();
    let db = dir.join("sled/db");
    let sound = files_in(&dir);
    let used = used(&sound[&db]);
    let (mut refused, mut served) = (0, 0);
    for bit in (used * 4..used * 8).step_by(if is_all() { 7 } else { STRIDE }) {
        flip(&db, bit);
        // The last commit is that of the other branch.
        match read_all(&dir, ENTRIES - 1) {
            Err(_) | Ok(false) => refused += 1,
            Ok(true) => served += 1,
        }
        flip(&db, bit);
        assert!(files_in(&dir) == sound, "bit {bit}");
    }
    assert!(refused > served, "{refused} refused, {served} served");
}

/// Requires a store to be refused in a way, and every file to stay as it is.
fn check_refused(dir: &Path, expected: &str) {
    check_refused_as(dir, |error| error.to_string().contains(expected));
}

fn check_refused_as(dir: &Path, is_expected: impl Fn(&StoreError) -> bool) {
    let before = files_in(dir);
    for opened in [Store::open_or_create(dir), Store::open(dir)] {
        let error = opened.unwrap_err();
        assert!(is_expected(&error), "{error}");
        assert!(files_in(dir) == before, "{error}");
    }
}

#[test]
fn a_compaction_cut_short_is_finished_only_over_sound_records() {
    for (pending, records) in [("compact.new", "sled"), ("compact.ready", "compact.ready/sled")] {
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path().join("store");
        make(&dir).close().unwrap();
        overwrite_journal(&dir);
        fs::create_dir(dir.join(pending)).unwrap();
        for name in ["sled", "WATERMARK"] {
            let (from, to) = (dir.join(name), dir.join(pending).join(name));
            if from.is_dir() { copy(&from, &to) } else { _ = fs::copy(from, to).unwrap() }
        }
        let db = dir.join(records).join("db");
        let bit = used(&fs::read(&db).unwrap()) * 8 - 100;
        flip(&db, bit);
        check_refused_as(&dir, StoreError::is_damage);
        flip(&db, bit);
        Store::open(&dir).unwrap().close().unwrap();
        assert!(!dir.join(pending).exists());
        assert!(read_all(&dir, ENTRIES).unwrap());
    }
}

#[test]
fn a_store_without_its_format_is_not_made_anew_over_what_it_holds() {
    let expected = "the files that say what it is are missing";
    for missing in [&["FORMAT"][..], &["FORMAT", "WATERMARK"]] {
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path().join("store");
        make(&dir).close().unwrap();
        for name in missing {
            fs::remove_file(dir.join(name)).unwrap();
        }
        let db = dir.join("sled/db");
        for bit in [None, Some(used(&fs::read(&db).unwrap()) * 4)] {
            if let Some(bit) = bit {
                flip(&db, bit);
            }
            let before = files_in(&dir);
            let error = Store::open_or_create(&dir).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
            assert!(files_in(&dir) == before, "{error}");
        }
    }
}

#[test]
fn fewer_commits_than_watermark_counts_change_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (dir, older) = (folder.path().join("store"), folder.path().join("older"));
    make(&dir).close().unwrap();
    copy(&dir.join("sled"), &older);
    let store = Store::open(&dir).unwrap();
    store.append(&duel(), &BranchName::main(), ENTRIES, vec![entry(b"more")], None).unwrap();
    store.close().unwrap();
    fs::remove_dir_all(dir.join("sled")).unwrap();
    copy(&older, &dir.join("sled"));
    check_refused(&dir, "entry 10 is gone");
}
