//! Indexes next to a damaged journal: a refused opening leaves them unchanged, and a salvage uses what they contain.

use std::fs;
use std::path::Path;

use turnfold_store::{BranchName, NewEntry, Store, StoreError, StoreOptions, StoreReader};

use super::salvage::{Branches, branches, salvage};
use super::{names, unobserved};
use crate::disk::copy_dir;
use crate::game::{commands, genesis, name, opaque};

fn open(dir: &Path) -> Store {
    StoreOptions::new().create().head_bytes(4096).open(dir).unwrap()
}

/// Appends entries to `main` of `m` one at a time, up to a head.
fn append_up_to(store: &Store, head: u64) {
    let main = BranchName::main();
    for at in store.head(&name("m"), &main).unwrap()..head {
        store.append(&name("m"), &main, at, vec![opaque(at)], None).unwrap();
    }
}

/// Creates a store with a marked entry in its first segment, closes it, and returns its contents.
fn make(dir: &Path, head: u64) -> Branches {
    let store = open(dir);
    store.create_match(&name("m"), &genesis(), commands(4)).unwrap();
    let marked = NewEntry { command: b"here it is".to_vec(), ..opaque(0) };
    store.append(&name("m"), &BranchName::main(), 4, vec![marked], None).unwrap();
    append_up_to(&store, head);
    let entries = branches(&store);
    store.close().unwrap();
    entries
}

/// Copies a store as a killed process would leave it, so that its journal names no index.
fn left(dir: &Path, to: &Path) {
    let store = open(dir);
    let head = store.head(&name("m"), &BranchName::main()).unwrap();
    // As many entries as fill a head. While it is packed, no frame names an index.
    append_up_to(&store, head + 8);
    copy_dir(dir, to);
    store.close().unwrap();
    fs::write(to.join("sled/opening"), "").unwrap();
}

/// Flips a bit of the marked entry in its segment.
fn flip(dir: &Path) {
    let segment = dir.join("journal/00000000000000000001.seg");
    let mut bytes = fs::read(&segment).unwrap();
    let place = bytes.windows(10).position(|found| found == b"here it is").unwrap();
    bytes[place] ^= 1;
    fs::write(segment, bytes).unwrap();
}

fn entries(held: &Branches) -> usize {
    held.values().map(Vec::len).sum()
}

/// A refused opening leaves the index unchanged and nothing next to it, however often it is repeated. So a salvage
/// loses nothing.
#[test]
fn a_refused_opening_leaves_nothing_that_a_salvage_would_prefer() {
    let parent = tempfile::tempdir().unwrap();
    let at = |name: &str| parent.path().join(name);
    make(&at("store"), 100);
    left(&at("store"), &at("left"));
    let held = branches(&Store::open(&at("store")).unwrap());
    assert_eq!(entries(&held), 108);
    flip(&at("left"));
    for _ in 0..3 {
        let error = Store::open(&at("left")).unwrap_err().to_string();
        assert!(error.contains("match `m`, branch `main`, entry 5"), "{error}");
        assert_eq!(names(&at("left/sled")), ["1", "opening"]);
    }
    let saved = salvage(&at("left"), &at("new")).unwrap();
    assert!(!saved.lost.is_empty() && saved.lost.iter().all(|lost| lost.match_name.is_none()), "{saved:?}");
    assert_eq!(branches(&Store::open(&at("new")).unwrap()), held);
}

/// When an opening was refused, earlier builds left a half-built index under the next number.
#[test]
fn what_earlier_builds_left_half_built_is_not_preferred_and_is_removed() {
    let parent = tempfile::tempdir().unwrap();
    let at = |name: &str| parent.path().join(name);
    make(&at("store"), 30);
    for number in ["2", "3"] {
        copy_dir(&at("store/sled/1"), &at("half").join(number));
    }
    append_up_to(&open(&at("store")), 100);
    left(&at("store"), &at("left"));
    let held = branches(&Store::open(&at("store")).unwrap());
    copy_dir(&at("half"), &at("left/sled"));
    flip(&at("left"));
    let saved = salvage(&at("left"), &at("new")).unwrap();
    assert_eq!(branches(&Store::open(&at("new")).unwrap()), held, "{saved:?}");
    // The journal is sound up to the entry before. An index with no more than that is of no use.
    fs::create_dir_all(at("left/sled/building/blobs")).unwrap();
    Store::open(&at("left")).unwrap_err();
    let left_over = names(&at("left/sled"));
    assert!(
        !left_over.contains(&"building".to_owned()) && left_over.contains(&"1".to_owned()),
        "{left_over:?}"
    );
    fs::remove_dir_all(at("new")).unwrap();
    salvage(&at("left"), &at("new")).unwrap();
    assert_eq!(branches(&Store::open(&at("new")).unwrap()), held);
}

/// ST-15: an index reveals an older journal, whatever the journal states. The index stays, and a salvage takes from it
/// what the journal lacks.
#[test]
fn a_journal_older_than_its_index_is_named_by_everyone_who_looks_and_saved_from_the_index() {
    let parent = tempfile::tempdir().unwrap();
    let at = |name: &str| parent.path().join(name);
    make(&at("store"), 40);
    copy_dir(&at("store/journal"), &at("closed"));
    left(&at("store"), &at("killed"));
    append_up_to(&open(&at("store")), 100);
    let held = branches(&Store::open(&at("store")).unwrap());
    assert_eq!(entries(&held), 100);
    for (older, is_marked, what) in [
        (at("closed"), false, "closed"),
        (at("closed"), true, "closed and marked"),
        (at("killed/journal"), false, "killed"),
        (at("killed/journal"), true, "killed and marked"),
    ] {
        let dir = at("back");
        copy_dir(&at("store"), &dir);
        fs::remove_dir_all(dir.join("journal")).unwrap();
        copy_dir(&older, &dir.join("journal"));
        if is_marked {
            fs::write(dir.join("sled/opening"), "").unwrap();
        }
        let before = names(&dir.join("sled"));
        let is_missing = |text: &str| text.contains("commits are missing, which its index has");
        match StoreReader::open(&dir) {
            Err(error) => assert!(error.is_damage() && is_missing(&error.to_string()), "{what}: {error}"),
            Ok(reader) => {
                assert_ne!(what, "closed", "ST-23: the index is known to have more");
                let found = reader.check(&mut unobserved()).unwrap().damage;
                assert!(matches!(&found[..], [one] if is_missing(&one.reason)), "{what}: {found:?}");
            }
        }
        for _ in 0..3 {
            let error = Store::open(&dir).unwrap_err();
            assert!(error.is_damage() && is_missing(&error.to_string()), "{what}: {error}");
            assert_eq!(names(&dir.join("sled")), before, "{what}");
        }
        let saved = salvage(&dir, &at("new")).unwrap();
        assert!(matches!(&saved.lost[..], [one] if is_missing(&one.reason)), "{what}: {saved:?}");
        // The index lacks the entries that only the heads had.
        let new = Store::open(&at("new")).unwrap();
        let found = branches(&new);
        assert!(entries(&found) > 90, "{what}: {}", entries(&found));
        new.close().unwrap();
        fs::remove_dir_all(at("new")).unwrap();
        fs::remove_dir_all(&dir).unwrap();
    }
}

/// After two processes have died while sled opened an index, no third one tries.
#[test]
fn an_index_in_which_sled_dies_is_opened_twice_at_most() {
    let parent = tempfile::tempdir().unwrap();
    let at = |name: &str| parent.path().join(name);
    let held = make(&at("store"), 40);
    fs::write(at("store/sled/opening"), "again\n").unwrap();
    let opened = Store::open(&at("store")).unwrap();
    assert_eq!(branches(&opened), held);
    assert_eq!(names(&at("store/sled")), ["2"]);
}

/// Only the folder of the journal is left, and an index contains everything.
#[test]
fn an_index_without_a_journal_is_saved() {
    let parent = tempfile::tempdir().unwrap();
    let at = |name: &str| parent.path().join(name);
    make(&at("store"), 100);
    fs::remove_dir_all(at("store/journal")).unwrap();
    fs::create_dir(at("store/journal")).unwrap();
    let saved = salvage(&at("store"), &at("new")).unwrap();
    assert!(!saved.lost.is_empty() && saved.saved.entries > 90, "{saved:?}");
}

/// A sound index hides damage, but a command that looks for damage names it.
#[test]
fn damage_that_a_sound_index_hides_is_named() {
    let parent = tempfile::tempdir().unwrap();
    let at = |name: &str| parent.path().join(name);
    let held = make(&at("store"), 100);
    assert_eq!(StoreReader::open(&at("store")).unwrap().hidden_damage().unwrap(), None);
    flip(&at("store"));
    let store = Store::open(&at("store")).unwrap();
    assert_eq!(branches(&store), held);
    let damage = store.hidden_damage().unwrap().unwrap();
    assert_eq!(
        (damage.match_name, damage.branch, damage.seq),
        (Some(name("m")), Some(BranchName::main()), Some(5))
    );
}

/// ST-23: a small journal is read without its index, and so without a lock, while a file shows what the index has.
/// Statistics are of the index all the same, as are audits.
#[test]
fn st_23_a_small_journal_is_read_without_sled_if_the_index_has_no_more() {
    let parent = tempfile::tempdir().unwrap();
    let dir = parent.path().join("store");
    let held = make(&dir, 40);
    let reader = StoreReader::open(&dir).unwrap();
    let pages = reader.stats(1, &mut unobserved()).unwrap().pages;
    let store = Store::open(&dir).unwrap();
    assert_eq!(branches(&store), held);
    assert_eq!(store.stats(1, &mut unobserved()).unwrap().pages, pages);
    // Next to the writer there are as many pages as commits.
    assert!(reader.stats(1, &mut unobserved()).unwrap().pages > pages);
    store.close().unwrap();
    assert_eq!(reader.head(&name("m"), &BranchName::main()).unwrap(), 40);
    assert_eq!(reader.check(&mut unobserved()).unwrap().damage, []);
    drop(reader);

    let file = dir.join("sled/1/reached");
    let sound = fs::read(&file).unwrap();
    let mut flipped = sound.clone();
    flipped[17] ^= 1;
    for unsound in [&flipped[..], &sound[1..], &[&sound[..], &[0]].concat(), &[]] {
        fs::write(&file, unsound).unwrap();
        let reader = StoreReader::open(&dir).unwrap();
        assert_eq!(reader.head(&name("m"), &BranchName::main()).unwrap(), 40);
        assert!(matches!(Store::open(&dir), Err(StoreError::Locked { .. })), "{} bytes", unsound.len());
    }
    // A writer puts it right.
    Store::open(&dir).unwrap().close().unwrap();
    assert_eq!(fs::read(&file).unwrap(), sound);
}
