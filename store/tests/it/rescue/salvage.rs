//! Salvage: all that still verifies, and a list of the rest.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use turnfold_store::backend::memory::MemoryBackend;
use turnfold_store::{BranchName, Entry, ErrorKind, LostEntries, RescueError, Salvage, Store, StoreError};

use super::{contents, copy_dir, fill, names, sample, unobserved};
use crate::game::{branch, commands, genesis, name};

pub(crate) type Branches = BTreeMap<(String, String), Vec<Entry>>;

/// The entries of every branch.
pub(crate) fn branches(store: &Store) -> Branches {
    let mut branches = Branches::new();
    for info in store.matches().unwrap() {
        for branch in store.branches(&info.name).unwrap() {
            let entries = store.read(&info.name, &branch.name, None).unwrap().entries;
            branches.insert((info.name.to_string(), branch.name.to_string()), entries);
        }
    }
    branches
}

/// Whether the list says that a branch ends after so many entries.
fn is_listed(lost: &LostEntries, (match_name, branch): &(String, String), kept: Option<u64>) -> bool {
    // Where the newest commits are gone, nothing tells any more which branches they were on.
    let is_rolled_back = lost.reason.contains("commits are missing") || lost.reason.contains("one by one");
    let of_store = lost.match_name.is_none() && (kept.is_none() || is_rolled_back);
    let of_match = lost.match_name.as_ref().is_some_and(|lost| lost.as_str() == match_name);
    let whole_branch = lost.branch.is_none() && kept.is_none();
    let of_branch = lost.branch.as_ref().is_some_and(|lost| lost.as_str() == branch);
    let from = kept.is_none() || lost.from == kept.map(|kept| kept + 1);
    of_store || of_match && (whole_branch || of_branch && from)
}

/// Requires that what was saved is sound, and that everything else is listed.
fn check(original: &Branches, store: &Store, salvage: &Salvage, what: &str) {
    assert_eq!(store.check(&mut unobserved()).unwrap().damage, [], "{what}");
    let saved = branches(store);
    for (place, entries) in original {
        let found = saved.get(place);
        let kept = found.map(|entries| entries.len() as u64);
        if let Some(found) = found {
            assert!(entries.starts_with(found), "{what}: {place:?}");
        }
        if kept != Some(entries.len() as u64) {
            let listed = salvage.lost.iter().any(|lost| is_listed(lost, place, kept));
            assert!(listed, "{what}: {place:?} has {kept:?} of {}: {:?}", entries.len(), salvage.lost);
        }
    }
    // Where the newest commits are gone, so may be the one that deleted or renamed something.
    let known = |(match_name, branch): &(String, String)| {
        let was_there = ["gone", "side"].contains(&&**branch) || ["draft", "doomed"].contains(&&**match_name);
        was_there && !salvage.lost.is_empty()
    };
    assert!(saved.keys().all(|place| original.contains_key(place) || known(place)), "{what}");
}

#[test]
fn whichever_record_is_damaged_the_rest_is_saved_and_what_is_not_is_listed() {
    let backend = sample();
    let original = branches(&Store::with_backend(Box::new(backend.copy())).unwrap());
    let harms = |value: &[u8]| {
        let flipped = |place: usize| {
            let mut flipped = value.to_vec();
            flipped[place] ^= 4;
            Some(flipped)
        };
        [None, flipped(0), flipped(value.len() / 2), flipped(value.len() - 1)]
    };
    let mut whole = 0;
    for (key, value) in backend.records() {
        for (number, damage) in harms(&value).into_iter().enumerate() {
            let what = format!("{} damage {number}", key.escape_ascii());
            let damaged = backend.copy();
            damaged.tamper(&key, damage);
            let (store, salvage) = Store::salvage_in_memory(Box::new(damaged)).unwrap();
            check(&original, &store, &salvage, &what);
            whole += usize::from(branches(&store) == original);
            // Only a record without entries may be damaged and leave nothing to list; so may one of an old name, and a
            // grant, of which none is saved.
            assert!(!salvage.lost.is_empty() || matches!(key[0], b'k' | b'b' | b'g' | b'a' | b'i'), "{what}");
        }
    }
    assert!(whole > 0);
}

#[test]
fn two_damages_at_once_are_both_listed() {
    let backend = sample();
    let original = branches(&Store::with_backend(Box::new(backend.copy())).unwrap());
    let keys: Vec<_> = backend.records().into_iter().map(|(key, _)| key).collect();
    for (place, first) in keys.iter().enumerate() {
        for second in keys.iter().skip(place + 1) {
            let damaged = backend.copy();
            damaged.tamper(first, None);
            damaged.tamper(second, Some(vec![0; 12]));
            let what = format!("{} and {}", first.escape_ascii(), second.escape_ascii());
            let (store, salvage) = Store::salvage_in_memory(Box::new(damaged)).unwrap();
            check(&original, &store, &salvage, &what);
        }
    }
}

fn lost(salvage: &Salvage) -> Vec<String> {
    let told = salvage.lost.iter().map(|lost| {
        let LostEntries { match_name, branch, from, to, reason } = lost;
        let names = [match_name.as_ref().map(ToString::to_string), branch.as_ref().map(ToString::to_string)];
        let names: Vec<_> = names.into_iter().flatten().collect();
        format!("{} {from:?}..{to:?}: {reason}", names.join("@"))
    });
    told.collect()
}

#[test]
fn a_branch_keeps_what_its_parent_still_has() {
    let backend = MemoryBackend::new();
    let store = Store::with_backend(Box::new(backend.clone())).unwrap();
    store.create_match(&name("m"), &genesis(), commands(10)).unwrap();
    store.create_branch(&name("m"), &branch("line"), &BranchName::main(), 8).unwrap();
    store.append(&name("m"), &branch("line"), 8, commands(12).split_off(8), None).unwrap();
    store.create_branch(&name("m"), &branch("twig"), &branch("line"), 11).unwrap();
    store.close().unwrap();
    let entry_6 = [&b"t"[..], &2_u64.to_be_bytes(), &6_u64.to_be_bytes()].concat();
    backend.tamper(&entry_6, None);
    let (store, salvage) = Store::salvage_in_memory(Box::new(backend)).unwrap();
    assert_eq!(
        lost(&salvage),
        [
            "m@main Some(6)..Some(10): the entry is missing",
            "m@line Some(6)..Some(12): the branch `main` it begins on is lost from entry 6 on",
            "m@twig Some(6)..Some(11): the branch `line` it begins on is lost from entry 6 on",
            " None..None: 9 of 14 entries are neither saved nor recorded as deleted",
        ]
    );
    let kept: Vec<_> = branches(&store).into_values().map(|entries| entries.len()).collect();
    assert_eq!(kept, [5, 5, 5]);
}

pub(crate) fn salvage(dir: &Path, new: &Path) -> Result<Salvage, RescueError> {
    Store::salvage(dir, new, &mut unobserved())
}

/// A store on disk, closed, and what it says.
fn on_disk(dir: &Path) -> (String, Branches) {
    let store = Store::open_or_create(dir).unwrap();
    fill(&store);
    let told = (contents(&store), branches(&store));
    store.close().unwrap();
    told
}

#[test]
fn a_sound_store_is_saved_whole_and_never_opened() {
    let parent = tempfile::tempdir().unwrap();
    let at = |name: &str| parent.path().join(name);
    let (told, _) = on_disk(&at("store"));
    copy_dir(&at("store"), &at("before"));
    let saved = salvage(&at("store"), &at("new")).unwrap();
    assert_eq!(saved.lost, []);
    assert_eq!(contents(&Store::open(&at("new")).unwrap()), told);
    for file in ["FORMAT", "WATERMARK", "sled/db", "sled/conf"] {
        assert!(
            fs::read(at("store").join(file)).unwrap() == fs::read(at("before").join(file)).unwrap(),
            "{file}"
        );
    }
    assert_eq!(names(&at("store/sled")), names(&at("before/sled")));
    assert_eq!(names(parent.path()), ["before", "new", "store"]);
    let error = salvage(&at("store"), &at("new")).unwrap_err();
    assert!(matches!(error, RescueError::NotEmpty { .. }), "{error}");
    let held = Store::open(&at("store")).unwrap();
    let error = salvage(&at("store"), &at("other")).unwrap_err();
    assert!(matches!(error, RescueError::Store(StoreError::Locked { .. })), "{error}");
    drop(held);
}

#[test]
fn files_that_say_nothing_of_the_entries_cost_none() {
    let parent = tempfile::tempdir().unwrap();
    let at = |name: &str| parent.path().join(name);
    let (told, _) = on_disk(&at("store"));
    let harm = |number: usize, harm: &dyn Fn(&Path)| {
        let dir = at(&format!("harmed-{number}"));
        copy_dir(&at("store"), &dir);
        harm(&dir);
        let new = at(&format!("new-{number}"));
        let saved = salvage(&dir, &new).unwrap();
        assert_eq!(contents(&Store::open(&new).unwrap()), told);
        lost(&saved)
    };
    let nothing: [&str; 0] = [];
    assert_eq!(harm(1, &|dir| fs::remove_file(dir.join("FORMAT")).unwrap()), nothing);
    assert_eq!(harm(2, &|dir| fs::remove_file(dir.join("sled/conf")).unwrap()), nothing);
    assert_eq!(harm(3, &|dir| fs::write(dir.join("sled/conf"), "?").unwrap()), nothing);
    let snapshots = |dir: &Path| {
        for name in names(&dir.join("sled")).into_iter().filter(|name| name.starts_with("snap.")) {
            fs::write(dir.join("sled").join(name), [7; 40]).unwrap();
        }
    };
    assert_eq!(harm(4, &snapshots), nothing);
    let told = harm(5, &|dir| fs::remove_file(dir.join("WATERMARK")).unwrap());
    assert_eq!(
        told,
        [" None..None: the file `WATERMARK` is missing; whether the newest entries are there is not known"]
    );
}

#[test]
fn damaged_and_truncated_databases_give_what_verifies_or_say_that_nothing_does() {
    let parent = tempfile::tempdir().unwrap();
    let at = |name: &str| parent.path().join(name);
    let (_, original) = on_disk(&at("store"));
    let db = fs::read(at("store/sled/db")).unwrap();
    let used = db.iter().rposition(|byte| *byte != 0).unwrap() + 1;
    let (mut whole, mut partly, mut nothing) = (0, 0, 0);
    // sled's threads lay out a file differently each time; somewhere among so many places some of it is always lost.
    let rounds = 60;
    for round in 0..rounds {
        let (dir, new) = (at(&format!("damaged-{round}")), at(&format!("new-{round}")));
        copy_dir(&at("store"), &dir);
        let mut damaged = db.clone();
        match round % 2 {
            0 => damaged.truncate(used * round / rounds),
            _ => damaged[used * round / rounds + 3] ^= 0x10,
        }
        fs::write(dir.join("sled/db"), &damaged).unwrap();
        if round / 2 % 2 == 0 {
            // What went into sled long ago is overwritten there.
            fs::write(dir.join("sled/journal"), vec![0; 128 * 1024]).unwrap();
        }
        match salvage(&dir, &new) {
            Ok(saved) => {
                check(&original, &Store::open(&new).unwrap(), &saved, &format!("round {round}"));
                let is_whole = branches(&Store::open(&new).unwrap())
                    .into_iter()
                    .filter(|((_, name), _)| name != "gone")
                    .eq(original.clone());
                if is_whole { whole += 1 } else { partly += 1 }
            }
            Err(error) => {
                assert!(matches!(error, RescueError::NothingReadable { .. }), "{error}");
                assert_eq!(error.kind(), ErrorKind::Trouble);
                assert!(!new.exists());
                nothing += 1;
            }
        }
        assert_eq!(fs::read(dir.join("sled/db")).unwrap(), damaged, "the damaged store is left as it is");
    }
    assert!(whole > 0 && partly > 0, "{whole} whole, {partly} partly, {nothing} not at all");
}

#[test]
fn what_is_no_store_at_all_is_named() {
    let parent = tempfile::tempdir().unwrap();
    let at = |name: &str| parent.path().join(name);
    let error = salvage(&at("nowhere"), &at("new")).unwrap_err();
    assert!(matches!(error, RescueError::Store(StoreError::Missing { .. })), "{error}");
    fs::create_dir(at("other")).unwrap();
    fs::write(at("other/letter.txt"), "dear").unwrap();
    let error = salvage(&at("other"), &at("new")).unwrap_err();
    assert!(matches!(error, RescueError::NothingReadable { .. }), "{error}");
    assert_eq!(names(parent.path()), ["other"]);
}
