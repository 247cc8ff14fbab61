//! Compaction: the contents stay the same, and after a crash the store is the old one or the new one.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use turnfold_store::{BranchName, RescueError, Store, StoreError, StoreOptions, StoreReader};

use super::{contents, fill, names, unobserved};
use crate::disk::copy_dir;
use crate::game::{branch, commands, genesis, name, opaque};

fn contents_of(dir: &Path) -> String {
    let store = Store::open(dir).unwrap();
    let text = contents(&store);
    store.close().unwrap();
    text
}

/// Creates a store on disk with many unreachable records, and returns its contents.
fn wasteful(dir: &Path) -> String {
    let store = StoreOptions::new().create().head_bytes(16 * 1024).open(dir).unwrap();
    fill(&store);
    for round in 0..20 {
        let line = branch(&format!("line-{round}"));
        store.create_branch(&name("m"), &line, &BranchName::main(), 1, Vec::new()).unwrap();
        store.append(&name("m"), &line, 1, (0..300).map(opaque).collect::<Vec<_>>(), None).unwrap();
        store.delete_branch(&name("m"), &line).unwrap();
    }
    let text = contents(&store);
    store.close().unwrap();
    text
}

#[test]
fn a_compacted_store_holds_the_same_in_fewer_bytes() {
    let parent = tempfile::tempdir().unwrap();
    let dir = parent.path().join("store");
    let before = wasteful(&dir);
    let compacted = Store::compact(&dir, &mut unobserved()).unwrap();
    assert!(compacted.bytes_after < compacted.bytes_before, "{compacted:?}");
    assert_eq!(contents_of(&dir), before);
    assert!(names(&dir).iter().all(|name| !name.starts_with("compact")), "{:?}", names(&dir));
    let store = Store::open(&dir).unwrap();
    // The store also continues after pages that are not full.
    let line = branch("line");
    let head = store.head(&name("m"), &line).unwrap();
    store.append(&name("m"), &line, head, commands(200).split_off(67), None).unwrap();
    assert_eq!(store.audit(&name("m")).unwrap().damage, []);
    let before = contents(&store);
    store.close().unwrap();
    Store::compact(&dir, &mut unobserved()).unwrap();
    assert_eq!(contents_of(&dir), before);
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
        assert_eq!(contents_of(dir), before, "{what}");
        assert_eq!(names(dir), ["FORMAT", "LOCK", "journal", "sled"], "{what}");
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
    fs::remove_dir_all(at("3/sled")).unwrap();
    finish(&at("3"), "when the old index is gone");

    copy_dir(&old, &at("4"));
    copy_dir(&new, &at("4/compact.ready"));
    fs::remove_dir_all(at("4/sled")).unwrap();
    fs::rename(at("4/compact.ready/sled"), at("4/sled")).unwrap();
    fs::rename(at("4/journal"), at("4/compact.ready/old.journal")).unwrap();
    finish(&at("4"), "when the old journal is aside");

    copy_dir(&new, &at("5"));
    fs::create_dir(at("5/compact.ready")).unwrap();
    copy_dir(&at("old/journal"), &at("5/compact.ready/old.journal"));
    finish(&at("5"), "when the new journal is in place");
}

/// ST-9: no file contains a byte of the deleted match.
#[test]
fn nothing_of_a_deleted_match_is_left_after_a_compaction() {
    let parent = tempfile::tempdir().unwrap();
    let dir = parent.path().join("store");
    let store = Store::open_or_create(&dir).unwrap();
    store.create_match(&name("stays"), &genesis(), commands(5)).unwrap();
    let secret = turnfold_store::Genesis { title: "the title of it".to_owned(), ..genesis() };
    store.create_match(&name("vanishes"), &secret, Vec::new()).unwrap();
    let command = turnfold_store::NewEntry { command: b"a secret command".to_vec(), ..opaque(1) };
    store.append(&name("vanishes"), &BranchName::main(), 0, vec![command], None).unwrap();
    let grant = crate::grants::new(turnfold_store::GrantKind::Host);
    let grant = turnfold_store::NewGrant { match_name: name("vanishes"), ..grant };
    store.grant(&crate::grants::token(9), grant, 0).unwrap();
    store.delete_match(&name("vanishes")).unwrap();
    store.close().unwrap();
    let found = |dir: &Path, needle: &[u8]| {
        let mut files = Vec::new();
        all_files(dir, &mut files);
        files.iter().any(|file| fs::read(file).unwrap().windows(needle.len()).any(|bytes| bytes == needle))
    };
    let token = crate::grants::token(9);
    let needles = [&b"the title of it"[..], b"a secret command", b"vanishes", token.as_bytes()];
    assert!(needles.iter().all(|needle| found(&dir, needle)), "they are in the journal");
    Store::compact(&dir, &mut unobserved()).unwrap();
    for needle in needles {
        assert!(!found(&dir, needle), "{}", needle.escape_ascii());
    }
    assert_eq!(Store::open(&dir).unwrap().matches().unwrap().len(), 1);
}

fn all_files(dir: &Path, files: &mut Vec<std::path::PathBuf>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { all_files(&path, files) } else { files.push(path) }
    }
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
    let head = fs::read(dir.join("journal/head.b")).unwrap();
    fs::write(dir.join("journal/head.b"), "").unwrap();
    Store::compact(&dir, &mut unobserved()).unwrap_err();
    fs::write(dir.join("journal/head.b"), head).unwrap();
    assert_eq!(Store::open(&dir).unwrap().head(&name("m"), &BranchName::main()).unwrap(), 10);
    let error = Store::compact(&parent.path().join("nothing"), &mut unobserved()).unwrap_err();
    assert!(error.to_string().starts_with("no store at"), "{error}");
}

/// ST-16: a reader starts again when another journal replaces the one it is reading.
#[test]
fn a_store_is_read_and_checked_next_to_compactions() {
    let parent = tempfile::tempdir().unwrap();
    let dir = parent.path().join("store");
    let store = Store::open_or_create(&dir).unwrap();
    fill(&store);
    let before = contents(&store);
    store.close().unwrap();
    let is_done = AtomicBool::new(false);
    thread::scope(|scope| {
        let readers = [true, false, false].map(|checks| {
            let (dir, is_done) = (&dir, &is_done);
            scope.spawn(move || {
                while !is_done.load(Ordering::Relaxed) {
                    let store = StoreReader::open(dir).unwrap();
                    assert_eq!(store.matches().unwrap().len(), 2);
                    Store::journal_and_index_bytes(dir).unwrap();
                    if checks {
                        assert_eq!(store.check(&mut unobserved()).unwrap().damage, []);
                    }
                }
            })
        });
        let mut compactions = 0;
        while compactions < 5 && !readers.iter().any(thread::ScopedJoinHandle::is_finished) {
            match Store::compact(&dir, &mut unobserved()) {
                Ok(_) => compactions += 1,
                Err(RescueError::Store(StoreError::Locked { .. })) => {}
                Err(error) => panic!("{error}"),
            }
        }
        is_done.store(true, Ordering::Relaxed);
    });
    assert_eq!(contents_of(&dir), before);
}
