//! Damage to the files of a small store: each byte flipped, each length cut, each file missing, old, empty or foreign.
//! What the store says is the table in `FORMAT.md`.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;

use tempfile::TempDir;
use turnfold_store::{BranchName, Entry, ErrorKind, Store, StoreError};

use crate::session::{entry, genesis};

/// One place in so many is damaged, unless `TURNFOLD_DAMAGE` is `all`.
const STRIDE: usize = 9;

fn stride() -> usize {
    if std::env::var("TURNFOLD_DAMAGE").is_ok_and(|which| which == "all") { 1 } else { STRIDE }
}

/// A closed store with a page, tails, an idempotency key and two branches, and an older copy of it.
struct Sample {
    folder: TempDir,
    main: Vec<Entry>,
    line: Vec<Entry>,
}

/// What a damaged store does.
#[derive(Debug, PartialEq, Eq)]
enum Outcome {
    /// All is there, and an audit finds nothing.
    Harmless,
    /// It is refused, or what is damaged in it is named; so it says.
    Named(String),
}

impl Sample {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path().join("store");
        let (name, main, line) = ("m".parse().unwrap(), BranchName::main(), "line".parse().unwrap());
        let entries = |from: u8, to: u8| (from..=to).map(|label| entry(&[label])).collect();
        Store::open_or_create(&dir).unwrap().close().unwrap();
        copy(&dir, &folder.path().join("oldest"));
        let store = Store::open(&dir).unwrap();
        store.create_match(&name, &genesis(), entries(1, 66)).unwrap();
        store.close().unwrap();
        copy(&dir, &folder.path().join("older"));
        let store = Store::open(&dir).unwrap();
        store.create_branch(&name, &line, &main, 65).unwrap();
        store.append(&name, &line, 65, entries(67, 68), Some(&"k".parse().unwrap())).unwrap();
        let read = |branch| store.read(&name, branch, None).unwrap().entries;
        let (main, line) = (read(&main), read(&line));
        store.close().unwrap();
        overwrite_journal(&dir);
        Self { folder, main, line }
    }

    fn dir(&self) -> PathBuf {
        self.folder.path().join("store")
    }

    /// Every file of the store, by its path below the directory.
    fn files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let dir = self.dir();
        let listed =
            [dir.clone(), dir.join("sled")].into_iter().flat_map(|folder| fs::read_dir(folder).unwrap());
        let files = listed.map(|file| file.unwrap().path()).filter(|path| path.is_file());
        files.map(|path| (path.strip_prefix(&dir).unwrap().to_owned(), fs::read(path).unwrap())).collect()
    }

    /// Damages a copy and tells what comes of it. Whatever is read is what was written.
    fn damage(&self, what: &str, damage: impl FnOnce(&Path)) -> Outcome {
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path().join("store");
        copy(&self.dir(), &dir);
        damage(&dir);
        let named = |error: StoreError| {
            assert_eq!(error.kind(), ErrorKind::Trouble, "{what}: {error}");
            assert!(!matches!(error, StoreError::Io { .. }), "{what}: {error}");
            Outcome::Named(error.to_string())
        };
        let store = match Store::open(&dir) {
            Ok(store) => store,
            Err(error) => return named(error),
        };
        let name = "m".parse().unwrap();
        let mut outcome = Outcome::Harmless;
        for (branch, expected) in [(BranchName::main(), &self.main), ("line".parse().unwrap(), &self.line)] {
            match store.read(&name, &branch, None) {
                Ok(log) => assert!(log.entries == *expected, "{what}: {branch} is served otherwise"),
                Err(error) => outcome = named(error),
            }
        }
        if let Err(error) = store.matches() {
            outcome = named(error);
        }
        let check = match store.check(&mut |_| ()) {
            Ok(check) => check,
            Err(error) => return named(error),
        };
        match store.audit(&name).map(|audit| audit.damage) {
            Err(error) => named(error),
            Ok(damage) => {
                if let Some(damage) = damage.first().or_else(|| check.damage.first()) {
                    return Outcome::Named(format!("match `m` {damage:?}"));
                }
                assert_eq!(outcome, Outcome::Harmless, "{what}: the audit found nothing");
                Outcome::Harmless
            }
        }
    }
}

/// Leaves nothing in the journal of a closed store, as if much more had been committed since it was moved into sled: what
/// is damaged in sled is not there any more.
pub(crate) fn overwrite_journal(dir: &Path) {
    let journal = dir.join("sled/journal");
    let bytes = fs::read(&journal).unwrap().len();
    fs::write(journal, vec![0; bytes]).unwrap();
}

pub(crate) fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for file in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(file.file_name());
        if file.file_type().unwrap().is_dir() {
            copy(&file.path(), &target);
        } else {
            fs::copy(file.path(), target).unwrap();
        }
    }
}

/// Does a share of the work on each processor: told its number and how many there are, it returns what it found.
pub(crate) fn on_all_processors<T: Send>(share: impl Fn(usize, usize) -> T + Sync) -> Vec<T> {
    let workers = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        let share = &share;
        let workers: Vec<_> =
            (0..workers).map(|worker| scope.spawn(move || share(worker, workers))).collect();
        workers.into_iter().map(|worker| worker.join().unwrap()).collect()
    })
}

/// Does something to every place of every file, on all processors, and counts harmless and named outcomes by file.
fn at_every_place(damage: impl Fn(&mut Vec<u8>, usize) + Sync) -> Vec<(String, usize, usize)> {
    let sample = Sample::new();
    let mut counted = Vec::new();
    for (path, sound) in sample.files() {
        // sled's file ends with zeros that it has not used yet.
        let used = sound.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        let outcomes = on_all_processors(|worker, workers| {
            let mut outcomes = [0, 0];
            for place in (0..used).step_by(stride()).skip(worker).step_by(workers) {
                let outcome = sample.damage(&format!("{} at {place}", path.display()), |dir| {
                    let mut damaged = sound.clone();
                    damage(&mut damaged, place);
                    fs::write(dir.join(&path), damaged).unwrap();
                });
                outcomes[usize::from(outcome != Outcome::Harmless)] += 1;
            }
            outcomes
        });
        let sum = |which: usize| outcomes.iter().map(|outcomes: &[usize; 2]| outcomes[which]).sum();
        counted.push((path.display().to_string(), sum(0), sum(1)));
    }
    counted
}

#[test]
fn a_flipped_byte_in_any_file_is_named_or_harmless() {
    for (file, harmless, named) in at_every_place(|bytes, place| bytes[place] ^= 1 << (place % 8)) {
        match file.as_str() {
            // With one line of WATERMARK damaged all is served; it is a finding all the same.
            "FORMAT" | "WATERMARK" => assert_eq!(harmless, 0, "{file}"),
            "sled/db" => assert!(named > harmless, "{file}: {harmless} harmless, {named} named"),
            _ => {}
        }
    }
}

#[test]
fn a_file_cut_at_any_length_is_named_or_harmless() {
    for (file, harmless, named) in at_every_place(Vec::truncate) {
        match file.as_str() {
            "FORMAT" | "WATERMARK" | "sled/db" | "sled/journal" => {
                assert_eq!(harmless, 0, "{file}: {named} named");
            }
            _ => {}
        }
    }
}

/// Damages the sample and requires a named error, or none.
fn check(sample: &Sample, what: &str, expected: Option<&str>, damage: impl FnOnce(&Path)) {
    match (sample.damage(what, damage), expected) {
        (Outcome::Named(text), Some(expected)) => assert!(text.contains(expected), "{what}: {text}"),
        (outcome, expected) => assert_eq!((outcome, expected), (Outcome::Harmless, None), "{what}"),
    }
}

#[test]
fn missing_and_empty_files_are_named_or_harmless() {
    let sample = Sample::new();
    for (path, _) in sample.files() {
        let file = path.to_str().unwrap();
        let (missing, empty) = match file {
            "FORMAT" => (Some("has no file `FORMAT`"), Some("`FORMAT` does not say")),
            "WATERMARK" => (Some("`WATERMARK` is missing"), Some("no readable watermark")),
            "sled/db" | "sled/conf" => (Some("is missing or empty"), Some("is missing or empty")),
            "sled/journal" => (Some("is missing"), Some("has 0 bytes, it should have 131072")),
            "LOCK" => (None, None),
            // It only spares reading the log; what is left of one is not taken for one.
            snapshot => {
                assert!(snapshot.starts_with("sled/snap."), "an unknown file: {snapshot}");
                (None, Some("is damaged"))
            }
        };
        check(&sample, &format!("{file} is missing"), missing, |dir| {
            fs::remove_file(dir.join(&path)).unwrap();
        });
        check(&sample, &format!("{file} is empty"), empty, |dir| fs::write(dir.join(&path), "").unwrap());
    }
    check(&sample, "sled/ is missing", Some("is missing or empty"), |dir| {
        fs::remove_dir_all(dir.join("sled")).unwrap();
    });
    check(&sample, "sled/blobs/ is missing", None, |dir| fs::remove_dir(dir.join("sled/blobs")).unwrap());
}

#[test]
fn foreign_files_are_harmless_and_left_alone() {
    let sample = Sample::new();
    for path in ["letter.txt", "sled/letter.txt", "sled/blobs/letter.txt", "sled/db.bak", "FORMAT.new"] {
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path().join("store");
        copy(&sample.dir(), &dir);
        check(&sample, path, None, |dir| fs::write(dir.join(path), "dear").unwrap());
        fs::write(dir.join(path), "dear").unwrap();
        Store::open(&dir).unwrap().close().unwrap();
        assert_eq!(fs::read_to_string(dir.join(path)).unwrap(), "dear");
    }
}

#[test]
fn older_copies_of_a_part_are_noticed_and_of_the_whole_are_an_older_store() {
    let sample = Sample::new();
    let older = sample.folder.path().join("older");
    let gone = "match `m`, branch `line`, entries 1 to 67 are gone; 2 of 3 commits are missing, with 2 of 68 entries";
    check(&sample, "an older sled/", Some(gone), |dir| {
        fs::remove_dir_all(dir.join("sled")).unwrap();
        copy(&older.join("sled"), &dir.join("sled"));
    });
    check(&sample, "an older sled/db", Some("2 of 3 commits are missing"), |dir| {
        fs::remove_dir_all(dir.join("sled")).unwrap();
        copy(&older.join("sled"), &dir.join("sled"));
        fs::copy(sample.dir().join("sled/conf"), dir.join("sled/conf")).unwrap();
    });
    let older_watermark = |age: &'static str| {
        let file = sample.folder.path().join(age).join("WATERMARK");
        move |dir: &Path| _ = fs::copy(file, dir.join("WATERMARK")).unwrap()
    };
    // A process killed before it wrote the file leaves the one before; none leaves one older than that.
    check(&sample, "the WATERMARK before", None, older_watermark("older"));
    check(&sample, "an older WATERMARK", Some("belongs to another history"), older_watermark("oldest"));
    // Nothing in it can know better.
    let folder = tempfile::tempdir().unwrap();
    copy(&older, folder.path());
    let store = Store::open(folder.path()).unwrap();
    assert_eq!(store.head(&"m".parse().unwrap(), &BranchName::main()).unwrap(), 66);
}
