//! Salvage: it saves everything that still verifies, and lists the rest.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use turnfold_store::{BranchName, Entry, LostEntries, RescueError, Salvage, Store, StoreError, StoreOptions};

use super::{contents, fill, names, unobserved};
use crate::disk::copy_dir;
use crate::game::{branch, commands, genesis, name};

pub(crate) type Branches = BTreeMap<(String, String), Vec<Entry>>;

/// Returns the entries of every branch.
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

pub(crate) fn salvage(dir: &Path, new: &Path) -> Result<Salvage, RescueError> {
    Store::salvage(dir, new, &mut unobserved())
}

/// Creates a store on disk, closes it, and returns its contents.
fn on_disk(dir: &Path) -> (String, Branches) {
    let store = Store::open_or_create(dir).unwrap();
    fill(&store);
    let contained = (contents(&store), branches(&store));
    store.close().unwrap();
    contained
}

#[test]
fn a_sound_store_is_saved_whole_and_never_opened() {
    let parent = tempfile::tempdir().unwrap();
    let at = |name: &str| parent.path().join(name);
    let (contained, _) = on_disk(&at("store"));
    copy_dir(&at("store"), &at("before"));
    let saved = salvage(&at("store"), &at("new")).unwrap();
    assert_eq!(saved.lost, []);
    assert_eq!(contents(&Store::open(&at("new")).unwrap()), contained);
    for file in ["FORMAT", "journal/head.a", "journal/head.b"] {
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

/// Returns the losses that a salvage lists, as text.
fn lost(salvage: &Salvage) -> Vec<String> {
    let lost = salvage.lost.iter().map(|lost| {
        let LostEntries { match_name, branch, from, to, reason } = lost;
        let names = [match_name.as_ref().map(ToString::to_string), branch.as_ref().map(ToString::to_string)];
        let names: Vec<_> = names.into_iter().flatten().collect();
        format!("{} {from:?}..{to:?}: {reason}", names.join("@"))
    });
    lost.collect()
}

/// Creates a store that packs after every few commits, and returns its contents.
fn packed(dir: &Path) -> Branches {
    let store = StoreOptions::new().create().head_bytes(4096).open(dir).unwrap();
    fill(&store);
    let main = BranchName::main();
    for head in 66..90 {
        store.append(&name("m"), &main, head, vec![crate::game::opaque(head)], None).unwrap();
    }
    let held = branches(&store);
    store.close().unwrap();
    held
}

/// A way to damage a file.
type Harm<'a> = &'a dyn Fn(&Path);

/// ST-4: whichever file of the journal is missing, empty, cut off or full of holes, the salvage reports a loss.
#[test]
fn a_journal_file_that_is_missing_short_or_empty_is_never_everything() {
    let parent = tempfile::tempdir().unwrap();
    let at = |name: &str| parent.path().join(name);
    let held = packed(&at("store"));
    let segments = names(&at("store/journal"));
    assert!(segments.len() > 2, "{segments:?}");
    for (place, file) in segments.iter().enumerate() {
        let bytes = fs::read(at("store/journal").join(file)).unwrap();
        let harms: [(&str, Harm<'_>); 5] = [
            ("missing", &|path| fs::remove_file(path).unwrap()),
            ("empty", &|path| fs::write(path, "").unwrap()),
            ("cut", &|path| fs::write(path, &bytes[..bytes.len() / 2]).unwrap()),
            ("holes", &|path| {
                fs::remove_file(path).unwrap();
                fs::File::create(path).unwrap().set_len(64 << 20).unwrap();
            }),
            ("a folder", &|path| {
                fs::remove_file(path).unwrap();
                fs::create_dir(path).unwrap();
            }),
        ];
        for (number, (what, harm)) in (place..).zip(harms) {
            // Do each harm alternately with the index and without it.
            let with_index = number.is_multiple_of(2);
            let what = format!("{file} is {what}, index {with_index}");
            copy_dir(&at("store"), &at("harmed"));
            harm(&at("harmed/journal").join(file));
            if !with_index {
                fs::remove_dir_all(at("harmed/sled")).unwrap();
            }
            match salvage(&at("harmed"), &at("new")) {
                Ok(saved) => {
                    assert_ne!(saved.lost, [], "{what}");
                    let store = Store::open(&at("new")).unwrap();
                    assert_eq!(store.check(&mut unobserved()).unwrap().damage, [], "{what}");
                    for (place, entries) in branches(&store) {
                        let of = held.get(&place).or_else(|| held.get(&("m".to_owned(), place.1.clone())));
                        let of = of.or_else(|| held.get(&(place.0.clone(), "line".to_owned())));
                        assert!(
                            of.is_some_and(|of| of.starts_with(&entries)) || was_deleted(&place),
                            "{what}: {place:?}"
                        );
                    }
                    store.close().unwrap();
                    fs::remove_dir_all(at("new")).unwrap();
                }
                Err(RescueError::NothingReadable { .. }) => {}
                Err(error) => panic!("{what}: {error}"),
            }
            fs::remove_dir_all(at("harmed")).unwrap();
        }
    }
}

/// ST-22: salvage waits for a writer that is about to be closed.
#[test]
fn salvage_waits_for_a_lock_that_is_about_to_go() {
    let parent = tempfile::tempdir().unwrap();
    let at = |name: &str| parent.path().join(name);
    let held = Store::open_or_create(&at("store")).unwrap();
    held.create_match(&name("m"), &genesis(), commands(4)).unwrap();
    std::thread::scope(|scope| {
        let waits = scope.spawn(|| salvage(&at("store"), &at("new")));
        std::thread::sleep(std::time::Duration::from_millis(200));
        held.close().unwrap();
        waits.join().unwrap().unwrap();
    });
    assert_eq!(branches(&Store::open(&at("new")).unwrap()).len(), 1);
}

fn was_deleted((match_name, branch): &(String, String)) -> bool {
    ["gone", "side"].contains(&&**branch) || ["draft", "doomed"].contains(&&**match_name)
}

/// ST-3, ST-4: flips each bit of a closed journal's first commits. A reader names the damage, and a salvage lists it.
/// With a sound index all entries are saved.
#[test]
fn a_flipped_bit_is_named_listed_and_filled_from_the_index() {
    let all = std::env::var_os("TURNFOLD_FLIPS").is_some();
    let parent = tempfile::tempdir().unwrap();
    let at = |name: &str| parent.path().join(name);
    let held = packed(&at("store"));
    let entries = |branches: &Branches| branches.values().map(Vec::len).sum::<usize>();
    let (mut named, mut harmless, mut filled) = (0, 0, 0);
    for file in names(&at("store/journal")) {
        let bytes = fs::read(at("store/journal").join(&file)).unwrap();
        let used = bytes.iter().rposition(|byte| *byte != 0).unwrap() + 1;
        let step = if all { 1 } else { used / 9 + 1 };
        for place in (0..used).step_by(step) {
            let what = format!("{file} at {place}");
            copy_dir(&at("store"), &at("harmed"));
            let mut flipped = bytes.clone();
            flipped[place] ^= 1 << (place % 8);
            fs::write(at("harmed/journal").join(&file), flipped).unwrap();
            let whole = turnfold_store::StoreReader::open(&at("harmed"))
                .and_then(|reader| reader.check(&mut unobserved()))
                .is_ok_and(|check| check.damage.is_empty());
            let saved = salvage(&at("harmed"), &at("new")).unwrap();
            let store = Store::open(&at("new")).unwrap();
            let found = branches(&store);
            store.close().unwrap();
            if whole {
                assert_eq!((found, &saved.lost[..]), (held.clone(), &[][..]), "{what}");
                harmless += 1;
            } else {
                assert_ne!(saved.lost, [], "{what}");
                named += 1;
                if entries(&found) == entries(&held) {
                    filled += 1;
                    // What the index has is not taken from the journal again.
                    assert!(saved.lost.iter().all(|lost| lost.match_name.is_none()), "{what}: {saved:?}");
                }
            }
            fs::remove_dir_all(at("new")).unwrap();
            fs::remove_dir_all(at("harmed")).unwrap();
        }
    }
    assert!(named > 5 && harmless > 0 && filled > 5, "{named} named, {harmless} harmless, {filled} filled");
}

/// ST-4: commits that are in two files are saved once.
#[test]
fn a_segment_that_is_there_twice_is_saved_once() {
    let parent = tempfile::tempdir().unwrap();
    let at = |name: &str| parent.path().join(name);
    let held = packed(&at("store"));
    fs::remove_dir_all(at("store/sled")).unwrap();
    let segment = at("store/journal/00000000000000000001.seg");
    fs::copy(&segment, segment.with_file_name("00000000000000000002.seg")).unwrap();
    let saved = salvage(&at("store"), &at("new")).unwrap();
    assert!(saved.lost.iter().all(|lost| lost.match_name.is_none()) && !saved.lost.is_empty(), "{saved:?}");
    assert_eq!(branches(&Store::open(&at("new")).unwrap()), held);
}

#[test]
fn one_damaged_commit_costs_its_entries_and_what_builds_on_them() {
    let parent = tempfile::tempdir().unwrap();
    let at = |name: &str| parent.path().join(name);
    let store = Store::open_or_create(&at("store")).unwrap();
    let main = BranchName::main();
    store.create_match(&name("m"), &genesis(), commands(4)).unwrap();
    store.create_match(&name("n"), &genesis(), commands(4)).unwrap();
    let marked =
        |label: &[u8]| turnfold_store::NewEntry { command: label.to_vec(), ..crate::game::opaque(0) };
    store.append(&name("m"), &main, 4, vec![marked(b"here it is")], None).unwrap();
    store.append(&name("n"), &main, 4, commands(9).split_off(4), None).unwrap();
    store.append(&name("m"), &main, 5, commands(9).split_off(5), None).unwrap();
    store.create_branch(&name("m"), &branch("twig"), &main, 3, Vec::new()).unwrap();
    store.create_branch(&name("m"), &branch("late"), &main, 7, Vec::new()).unwrap();
    store.close().unwrap();
    fs::remove_dir_all(at("store/sled")).unwrap();
    let head = at("store/journal/head.b");
    let mut bytes = fs::read(&head).unwrap();
    let place = bytes.windows(10).position(|found| found == b"here it is").unwrap();
    bytes[place] ^= 1;
    fs::write(&head, bytes).unwrap();
    for error in
        [Store::open(&at("store")).map(|_| ()), turnfold_store::StoreReader::open(&at("store")).map(|_| ())]
    {
        let error = error.unwrap_err().to_string();
        assert!(error.contains("match `m`, branch `main`, entry 5") && error.contains("commit 3"), "{error}");
    }
    let saved = salvage(&at("store"), &at("new")).unwrap();
    assert_eq!(
        lost(&saved),
        [
            "m@late None..None: what commit 7 does to it follows from what is missing",
            "m@main Some(5)..Some(9): a commit with entries of it is missing or unreadable",
            " None..None: commit 3 is missing or unreadable",
        ]
    );
    let kept = branches(&Store::open(&at("new")).unwrap());
    let kept: Vec<_> = kept
        .into_iter()
        .map(|((match_name, branch), entries)| format!("{match_name}@{branch} {}", entries.len()))
        .collect();
    assert_eq!(kept, ["m@main 4", "m@twig 3", "n@main 9"]);
}

/// Issue 32: if the commit of a deletion is damaged, the branch must not come back silently.
#[test]
fn a_deletion_that_cannot_be_read_is_listed() {
    let parent = tempfile::tempdir().unwrap();
    let at = |name: &str| parent.path().join(name);
    let store = Store::open_or_create(&at("store")).unwrap();
    store.create_match(&name("m"), &genesis(), commands(4)).unwrap();
    store.create_branch(&name("m"), &branch("secretline"), &BranchName::main(), 3, Vec::new()).unwrap();
    store.delete_branch(&name("m"), &branch("secretline")).unwrap();
    store.close().unwrap();
    let head = at("store/journal/head.b");
    let mut bytes = fs::read(&head).unwrap();
    let place = bytes.windows(10).rposition(|found| found == b"secretline").unwrap();
    bytes[place] ^= 1;
    fs::write(&head, bytes).unwrap();
    let saved = salvage(&at("store"), &at("new")).unwrap();
    assert_eq!(lost(&saved), [" None..None: commit 3 is missing or unreadable"]);
}
