//! Compaction: the same store, and after a crash the old or the new.

use std::fs;
use std::path::Path;

use turnfold_store::{BranchName, RescueError, Store, StoreError};

use super::{contents, copy_dir, fill, names, unobserved};
use crate::game::{branch, commands, genesis, name, opaque};

fn told(dir: &Path) -> String {
    let store = Store::open(dir).unwrap();
    let told = contents(&store);
    store.close().unwrap();
    told
}

/// A store on disk with much that is unreachable.
fn wasteful(dir: &Path) -> String {
    let store = Store::open_or_create(dir).unwrap();
    fill(&store);
    for round in 0..20 {
        let line = branch(&format!("line-{round}"));
        store.create_branch(&name("m"), &line, &BranchName::main(), 1).unwrap();
        store.append(&name("m"), &line, 1, (0..300).map(opaque).collect(), None).unwrap();
        store.delete_branch(&name("m"), &line).unwrap();
    }
    let told = contents(&store);
    store.close().unwrap();
    told
}

#[test]
fn a_compacted_store_says_the_same_in_fewer_bytes() {
    let parent = tempfile::tempdir().unwrap();
    let dir = parent.path().join("store");
    let before = wasteful(&dir);
    let compacted = Store::compact(&dir, &mut unobserved()).unwrap();
    assert!(compacted.bytes_after < compacted.bytes_before, "{compacted:?}");
    assert_eq!(told(&dir), before);
    assert!(names(&dir).iter().all(|name| !name.starts_with("compact")), "{:?}", names(&dir));
    let store = Store::open(&dir).unwrap();
    assert_eq!(store.stats(0, &mut unobserved()).unwrap().tails, 0);
    // And it goes on after pages that are not full.
    let line = branch("line");
    let head = store.head(&name("m"), &line).unwrap();
    store.append(&name("m"), &line, head, commands(200).split_off(67), None).unwrap();
    assert_eq!(store.audit(&name("m")).unwrap().damage, []);
    let before = contents(&store);
    store.close().unwrap();
    Store::compact(&dir, &mut unobserved()).unwrap();
    assert_eq!(told(&dir), before);
}

#[test]
fn a_compaction_cut_short_anywhere_leaves_the_old_or_the_new() {
    let parent = tempfile::tempdir().unwrap();
    let at = |name: &str| parent.path().join(name);
    let before = wasteful(&at("old"));
    copy_dir(&at("old"), &at("new"));
    Store::compact(&at("new"), &mut unobserved()).unwrap();
    let (old, new) = (at("old"), at("new"));
    let finish = |dir: &Path, what: &str| {
        assert_eq!(told(dir), before, "{what}");
        assert_eq!(names(dir), ["FORMAT", "LOCK", "WATERMARK", "sled"], "{what}");
    };

    copy_dir(&old, &at("1"));
    copy_dir(&new, &at("1/compact.new"));
    fs::remove_file(at("1/compact.new/FORMAT")).unwrap();
    finish(&at("1"), "while the new one is made");

    copy_dir(&old, &at("2"));
    copy_dir(&new, &at("2/compact.ready"));
    finish(&at("2"), "when the new one is ready");

    copy_dir(&old, &at("3"));
    copy_dir(&new, &at("3/compact.ready"));
    fs::rename(at("3/sled"), at("3/compact.ready/old")).unwrap();
    finish(&at("3"), "when the old records are aside");

    copy_dir(&old, &at("4"));
    copy_dir(&new, &at("4/compact.ready"));
    fs::rename(at("4/sled"), at("4/compact.ready/old")).unwrap();
    fs::rename(at("4/compact.ready/sled"), at("4/sled")).unwrap();
    finish(&at("4"), "when the new records are in place");

    copy_dir(&new, &at("5"));
    fs::create_dir(at("5/compact.ready")).unwrap();
    copy_dir(&at("old/sled"), &at("5/compact.ready/old"));
    finish(&at("5"), "when the new watermark is in place");
}

#[test]
fn a_store_in_use_or_damaged_is_left_as_it_is() {
    let parent = tempfile::tempdir().unwrap();
    let dir = parent.path().join("store");
    let store = Store::open_or_create(&dir).unwrap();
    store.create_match(&name("m"), &genesis(), commands(10)).unwrap();
    let error = Store::compact(&dir, &mut unobserved()).unwrap_err();
    assert!(matches!(error, RescueError::Store(StoreError::Locked { .. })), "{error}");
    store.close().unwrap();
    let watermark = fs::read(dir.join("WATERMARK")).unwrap();
    fs::write(dir.join("WATERMARK"), "").unwrap();
    Store::compact(&dir, &mut unobserved()).unwrap_err();
    fs::write(dir.join("WATERMARK"), watermark).unwrap();
    assert_eq!(Store::open(&dir).unwrap().head(&name("m"), &BranchName::main()).unwrap(), 10);
    let error = Store::compact(&parent.path().join("nothing"), &mut unobserved()).unwrap_err();
    assert!(error.to_string().starts_with("no store at"), "{error}");
}
