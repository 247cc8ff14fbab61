//! Backups: complete or refused, also while the store is written to.

use std::fs;

use turnfold_store::{BranchName, ErrorKind, RescueError, Store, Totals};

use super::{contents, fill, names, sample, unobserved};
use crate::game::{branch, commands, genesis, labels, name, opaque};

fn backup(store: &Store, compress: bool) -> Vec<u8> {
    let mut bytes = Vec::new();
    store.backup(&mut bytes, compress, &mut unobserved()).unwrap();
    bytes
}

#[test]
fn a_restored_store_is_the_one_that_was_backed_up() {
    let parent = tempfile::tempdir().unwrap();
    let store = Store::in_memory();
    fill(&store);
    for compress in [false, true] {
        let bytes = backup(&store, compress);
        let dir = parent.path().join(format!("restored-{compress}"));
        let totals = Store::restore(bytes.as_slice(), &dir, &mut unobserved()).unwrap();
        assert_eq!(totals, Totals { matches: 2, branches: 5, entries: 66 + 2 + 3 });
        let restored = Store::open(&dir).unwrap();
        assert_eq!(contents(&restored), contents(&store));
        assert_eq!(backup(&restored, compress), bytes);
        // Keys still identify a repeated append.
        let repeated = commands(67).split_off(65);
        let key = "k".parse().unwrap();
        assert!(restored.append(&name("m"), &branch("line"), 65, repeated, Some(&key)).unwrap().repeated);
    }
    assert!(backup(&store, true).len() < backup(&store, false).len());
    assert_eq!(names(parent.path()), ["restored-false", "restored-true"]);
}

#[test]
fn long_appends_with_and_without_keys_come_back_as_they_were() {
    let store = Store::in_memory();
    let (m, main) = (name("m"), BranchName::main());
    store.create_match(&m, &genesis(), Vec::new()).unwrap();
    let mut head = 0;
    // More entries than a restore appends at a time, and than fit into a frame.
    for (count, key) in [(9_000, Some("first")), (9_000, None), (1, Some("second")), (5_000, Some("third"))] {
        let key = key.map(|key| key.parse().unwrap());
        let entries = (head + 1..=head + count).map(opaque).collect::<Vec<_>>();
        head = store.append(&m, &main, head, entries, key.as_ref()).unwrap().last;
    }
    let restored = Store::restore_in_memory(backup(&store, true).as_slice()).unwrap();
    assert_eq!(labels(&restored, "m", "main"), (1..=head).collect::<Vec<_>>());
    for (key, range) in [("first", 1..=9_000), ("second", 18_001..=18_001), ("third", 18_002..=head)] {
        assert_eq!(restored.find_idempotency_key(&m, &main, &key.parse().unwrap()).unwrap(), Some(range));
    }
    assert_eq!(restored.check(&mut unobserved()).unwrap().damage, []);
}

#[test]
fn every_flipped_byte_and_every_truncation_of_a_backup_is_refused() {
    let store = Store::with_backend(Box::new(sample())).unwrap();
    for compress in [false, true] {
        let bytes = backup(&store, compress);
        let mut placed = 0;
        let mut refuse = |damaged: &[u8], what: &str| {
            let error = Store::restore_in_memory(damaged).map(|_| ()).unwrap_err();
            let is_named = matches!(
                error,
                RescueError::NotABackup
                    | RescueError::UnknownFormat { .. }
                    | RescueError::DamagedBackup { .. }
            );
            assert!(is_named, "{what}: {error}");
            placed += u32::from(error.to_string().contains("match `m`, branch `"));
        };
        for place in 0..bytes.len() {
            let (mut flipped, bit) = (bytes.clone(), place % 8);
            flipped[place] ^= 1 << bit;
            refuse(&flipped, &format!("byte {place}, bit {bit}"));
            refuse(&bytes[..place], &format!("{place} bytes"));
        }
        refuse(&[bytes.as_slice(), b"\n"].concat(), "a byte too many");
        assert!(placed > 100, "damage within a match is placed there");
    }
}

#[test]
fn what_is_no_backup_or_damaged_leaves_nothing_behind() {
    let parent = tempfile::tempdir().unwrap();
    let bytes = backup(&Store::with_backend(Box::new(sample())).unwrap(), false);
    let dir = parent.path().join("restored");
    let refuse = |bytes: &[u8], expected: &str, kind: ErrorKind| {
        let error = Store::restore(bytes, &dir, &mut unobserved()).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
        assert_eq!(error.kind(), kind);
        assert_eq!(names(parent.path()), [""; 0]);
    };
    refuse(b"", "not a turnfold backup", ErrorKind::Unusable);
    refuse(b"turnfold replay 2\n", "not a turnfold backup", ErrorKind::Unusable);
    refuse(b"turnfold backup 1 plain\n....", "has the format `turnfold backup 1`", ErrorKind::Trouble);
    refuse(&bytes[..bytes.len() - 1], "it ends too early", ErrorKind::Trouble);
    let middle =
        "the backup is damaged: match `m`, branch `main`, entry 1: its bytes do not match their check";
    let mut flipped = bytes.clone();
    // Within the first entries of `m`.
    let at = bytes.windows(2).position(|pair| pair == [1, 8]).unwrap();
    flipped[at] ^= 1;
    refuse(&flipped, middle, ErrorKind::Trouble);

    fs::create_dir(&dir).unwrap();
    fs::write(dir.join("letter.txt"), "dear").unwrap();
    let error = Store::restore(bytes.as_slice(), &dir, &mut unobserved()).unwrap_err();
    assert!(matches!(error, RescueError::NotEmpty { .. }), "{error}");
    fs::remove_file(dir.join("letter.txt")).unwrap();
    Store::restore(bytes.as_slice(), &dir, &mut unobserved()).unwrap();
}

#[test]
fn a_damaged_store_is_not_backed_up_as_if_it_were_whole() {
    let backend = sample();
    // A backup contains no grants.
    let of_log = |key: &[u8]| !matches!(key[0], b's' | b'k' | b'g' | b'a' | b'i');
    for (key, _) in backend.records().into_iter().filter(|(key, _)| of_log(key)) {
        let what = key.escape_ascii().to_string();
        let damaged = backend.copy();
        damaged.tamper(&key, None);
        let store = Store::with_backend(Box::new(damaged)).unwrap();
        let mut bytes = Vec::new();
        let error = store.backup(&mut bytes, false, &mut unobserved()).expect_err(&what);
        assert!(error.to_string().contains("corrupt store"), "{what}: {error}");
        assert!(Store::restore_in_memory(bytes.as_slice()).is_err(), "{what}");
    }
}
