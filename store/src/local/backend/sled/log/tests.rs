//! The reader against sled, on files that sled has written.

use std::fs;
use std::path::Path;

use super::LogReader;

/// Numbers that look like chance and are always the same.
struct Chance(u64);

impl Chance {
    fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[usize::try_from(self.below(choices.len() as u64)).unwrap()]
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

fn open_sled(dir: &Path) -> sled::Db {
    sled::Config::new().path(dir).cache_capacity(1 << 20).use_compression(false).open().unwrap()
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        if entry.path().is_dir() {
            copy(&entry.path(), &to.join(entry.file_name()));
        } else {
            fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
        }
    }
}

fn snapshot_in(dir: &Path) -> (String, Vec<u8>) {
    let path = super::snapshot::paths(dir).unwrap().pop().unwrap();
    (path.file_name().unwrap().to_str().unwrap().to_owned(), fs::read(path).unwrap())
}

/// Changes records at random: few keys or many, short values or long, one at a time or in batches.
fn change(db: &sled::Db, chance: &mut Chance) {
    let keys = chance.of(&[20, 300, 5_000]);
    for _ in 0..chance.below(400) {
        let mut batch = sled::Batch::default();
        for _ in 0..=chance.below(4) {
            let number = chance.below(keys);
            let key =
                [&[b"hmstx"[usize::try_from(number % 5).unwrap()]][..], &(number * number).to_be_bytes()]
                    .concat();
            if chance.below(3) == 0 {
                batch.remove(key);
            } else {
                batch.insert(key, vec![chance.of(b"abc"); chance.of(&[8, 60, 1_000, 5_000])]);
            }
        }
        db.apply_batch(batch).unwrap();
        if chance.below(20) == 0 {
            db.flush().unwrap();
        }
    }
}

/// Requires the reader to find what sled finds in a copy, and the snapshot that sled then writes.
fn compare(dir: &Path, what: &str) {
    let reader = LogReader::open(dir).unwrap_or_else(|error| panic!("{what}: {error}"));
    let all = vec![0]..vec![u8::MAX];
    let scanned = reader.scan_stored(&all, usize::MAX).unwrap();
    let db = open_sled(dir);
    let expected: Vec<_> =
        db.iter().map(|found| found.map(|(key, value)| (key.to_vec(), value.to_vec())).unwrap()).collect();
    assert!(scanned == expected, "{what}");
    for (place, (key, value)) in expected.iter().enumerate().step_by(7) {
        assert_eq!(reader.stored(key).unwrap().as_ref(), Some(value), "{what}");
        let last = reader.last_stored(&(vec![0]..key.clone())).unwrap();
        assert_eq!(last.as_ref(), place.checked_sub(1).map(|before| &expected[before]), "{what}");
        let from = [key.as_slice(), &[0]].concat();
        let next = reader.scan_stored(&(from.clone()..vec![u8::MAX]), 1).unwrap().pop();
        assert_eq!(next.as_ref(), expected.get(place + 1), "{what}");
        assert_eq!(reader.stored(&from).unwrap(), None, "{what}");
    }
    drop(db);
    let snapshot = &reader.found.snapshot;
    assert!(snapshot_in(dir) == (snapshot.file_name(), snapshot.encode().unwrap()), "{what}: snapshot");
}

#[test]
fn what_lies_in_a_file_of_its_own_is_refused_in_the_log_and_in_a_snapshot() {
    let dir = tempfile::tempdir().unwrap();
    let (live, in_log, in_snapshot) =
        (dir.path().join("live"), dir.path().join("log"), dir.path().join("snapshot"));
    let db = open_sled(&live);
    db.insert(b"a", vec![7; 300_000]).unwrap();
    db.flush().unwrap();
    copy(&live, &in_log);
    copy(&live, &in_snapshot);
    drop(open_sled(&in_snapshot));
    for (dir, expected) in [(in_log, "lies in a file of its own"), (in_snapshot, "is damaged")] {
        let error = LogReader::open(&dir).err().unwrap().to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn the_reader_finds_what_sled_finds_in_closed_and_in_open_files() {
    let rounds = std::env::var("TURNFOLD_SLED_ROUNDS").map_or(12, |rounds| rounds.parse().unwrap());
    for round in 0..rounds {
        let mut chance = Chance(round);
        let dir = tempfile::tempdir().unwrap();
        let (live, copied) = (dir.path().join("live"), |number: u64| dir.path().join(number.to_string()));
        for session in 0..4 {
            let db = open_sled(&live);
            for _ in 0..=chance.below(6) {
                change(&db, &mut chance);
            }
            db.flush().unwrap();
            copy(&live, &copied(2 * session));
            compare(&copied(2 * session), &format!("round {round}, session {session}, open"));
            drop(db);
            while fs::File::open(live.join("db")).unwrap().try_lock().is_err() {
                std::thread::yield_now();
            }
            copy(&live, &copied(2 * session + 1));
            compare(&copied(2 * session + 1), &format!("round {round}, session {session}, closed"));
        }
    }
}

#[test]
fn messages_of_a_later_use_of_a_segment_are_found_amid_those_of_an_earlier_one() {
    let dir = tempfile::tempdir().unwrap();
    let db = open_sled(dir.path());
    for round in 0..40_u8 {
        for key in 0..100_u8 {
            db.insert([key], vec![round; 900]).unwrap();
        }
        db.flush().unwrap();
    }
    drop(db);
    while fs::File::open(dir.path().join("db")).unwrap().try_lock().is_err() {
        std::thread::yield_now();
    }
    let reader = LogReader::open(dir.path()).unwrap();
    // From here on nobody reads what lies before the end.
    let (snapshot, bytes) = reader.next_snapshot().unwrap().unwrap();
    fs::write(dir.path().join(&snapshot), bytes).unwrap();
    let loose = reader.loose().unwrap();
    assert_eq!(reader.commits_behind(&loose).unwrap(), None);
    let dead = loose.iter().find(|loose| loose.sound == 0 && !loose.bytes.is_empty()).unwrap();
    let active = loose.iter().find(|loose| loose.sound > 0).unwrap();
    let newer = &active.bytes[20..active.sound];
    let newer = &newer[..newer.len().min(100_000)];
    for place in [20, 21, 1_000, 200_000, 512 * 1024 - newer.len()] {
        let torn = dir.path().join("torn");
        fs::create_dir(&torn).unwrap();
        for name in ["db", "conf", &snapshot] {
            fs::copy(dir.path().join(name), torn.join(name)).unwrap();
        }
        let mut bytes = fs::read(torn.join("db")).unwrap();
        let at = usize::try_from(dead.offset).unwrap() + place;
        bytes[at..at + newer.len()].copy_from_slice(newer);
        fs::write(torn.join("db"), bytes).unwrap();
        let reader = LogReader::open(&torn).unwrap();
        assert!(reader.commits_behind(&reader.loose().unwrap()).unwrap().is_some(), "{place}");
        fs::remove_dir_all(torn).unwrap();
    }
}
