//! Snapshots: a cache that is either right or ignored.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use turnfold_core::{CommandSource, Digest, Logged};
use turnfold_store::{Audited, BranchName, SNAPSHOT_INTERVAL, Snapshot, Store, StoreError};

use crate::game::{branch, commands, genesis, name};

const ENTRIES: u64 = 2 * SNAPSHOT_INTERVAL + 100;
const BUILD: Digest = Digest::new([1; 32]);

/// Creates a store with a match long enough for two snapshots, and returns their states.
fn store() -> (TempDir, PathBuf, Store, [Snapshot; 2]) {
    let parent = tempfile::tempdir().unwrap();
    let dir = parent.path().join("store");
    let store = Store::open_or_create(&dir).unwrap();
    let count = usize::try_from(ENTRIES).unwrap();
    store.create_match(&name("m"), &genesis(), commands(count)).unwrap();
    let snapshots = [1, 2].map(|times| folded(&store, times * SNAPSHOT_INTERVAL));
    for snapshot in &snapshots {
        store.keep_snapshot(&name("m"), &BranchName::main(), snapshot, &BUILD).unwrap();
    }
    (parent, dir, store, snapshots)
}

fn folded(store: &Store, seq: u64) -> Snapshot {
    let log = store.read(&name("m"), &BranchName::main(), Some(seq)).unwrap();
    let mut state = turnfold_games::find("initiative").unwrap().start(&log.genesis.setup).unwrap();
    let logged = log.entries.iter().map(|entry| {
        let command = CommandSource::Bytes(&entry.command);
        Logged { seq: entry.seq, seat: entry.seat, command }
    });
    state.fold(&logged.collect::<Vec<_>>(), &log.genesis.dice, &mut |_| {}).unwrap();
    Snapshot { seq, rolls: state.rolls(), state: state.state_bytes() }
}

fn find(store: &Store, branch_name: &str, to: u64) -> Option<Snapshot> {
    store.find_snapshot(&name("m"), &branch(branch_name), to, &BUILD).unwrap()
}

fn files(dir: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(dir.join("snapshots")).unwrap().map(|file| file.unwrap().path());
    let mut files: Vec<_> = files.collect();
    files.sort();
    files
}

#[test]
fn the_last_one_before_an_entry_is_found() {
    let (_parent, dir, store, [first, second]) = store();
    let seqs = [first.seq - 1, first.seq, first.seq + 1, second.seq - 1, second.seq, ENTRIES, u64::MAX];
    let found = seqs.map(|seq| find(&store, "main", seq));
    let [first, second] = [first, second].map(Some);
    let expected =
        [None, first.clone(), first.clone(), first.clone(), second.clone(), second.clone(), second.clone()];
    assert_eq!(found, expected);
    drop(store);
    assert_eq!(find(&Store::open(&dir).unwrap(), "main", ENTRIES), second);
}

#[test]
fn branches_share_the_snapshots_of_their_common_entries_and_no_others() {
    let (_parent, _dir, store, [first, second]) = store();
    store
        .create_branch(&name("m"), &branch("early"), &BranchName::main(), second.seq - 1, Vec::new())
        .unwrap();
    store.create_branch(&name("m"), &branch("late"), &BranchName::main(), second.seq, Vec::new()).unwrap();
    let other = commands(2).pop().unwrap();
    let other = vec![turnfold_store::NewEntry { recorded_at_ms: 5, ..other }];
    store.append(&name("m"), &branch("early"), second.seq - 1, other, None).unwrap();
    assert_eq!(find(&store, "early", ENTRIES), Some(first));
    assert_eq!(find(&store, "late", ENTRIES), Some(second));
}

#[test]
fn they_go_with_the_branch_or_match_whose_entries_they_follow() {
    let (_parent, dir, store, [first, second]) = store();
    store.create_branch(&name("m"), &branch("line"), &BranchName::main(), first.seq, Vec::new()).unwrap();
    let own = commands(usize::try_from(second.seq).unwrap()).split_off(usize::try_from(first.seq).unwrap());
    let own = own
        .into_iter()
        .map(|entry| turnfold_store::NewEntry { recorded_at_ms: 5, ..entry })
        .collect::<Vec<_>>();
    store.append(&name("m"), &branch("line"), first.seq, own, None).unwrap();
    store.keep_snapshot(&name("m"), &branch("line"), &second, &BUILD).unwrap();
    assert_eq!(files(&dir).len(), 3);
    store.delete_branch(&name("m"), &branch("line")).unwrap();
    assert_eq!(files(&dir).len(), 2);
    assert_eq!(find(&store, "main", ENTRIES), Some(second));
    store.create_match(&name("other"), &genesis(), Vec::new()).unwrap();
    store.delete_match(&name("other")).unwrap();
    assert_eq!(files(&dir).len(), 2);
    store.delete_match(&name("m")).unwrap();
    assert_eq!(files(&dir).len(), 0);
}

#[test]
fn only_multiples_of_the_interval_and_entries_that_exist_have_one() {
    let (_parent, dir, store, [first, _]) = store();
    let keep = |seq| {
        let snapshot = Snapshot { seq, ..first.clone() };
        store.keep_snapshot(&name("m"), &BranchName::main(), &snapshot, &BUILD)
    };
    assert!(keep(0).is_ok() && keep(5).is_ok() && keep(first.seq + 1).is_ok());
    assert_eq!(files(&dir).len(), 2);
    assert!(matches!(keep(10 * SNAPSHOT_INTERVAL), Err(StoreError::NoSuchSeq { .. })));
}

#[test]
fn another_build_has_its_own() {
    let (_parent, _dir, store, [first, _]) = store();
    let other = Digest::new([2; 32]);
    let find = |build| store.find_snapshot(&name("m"), &BranchName::main(), ENTRIES, build).unwrap();
    assert_eq!(find(&other), None);
    store.keep_snapshot(&name("m"), &BranchName::main(), &first, &other).unwrap();
    assert_eq!(find(&other), Some(first));
}

#[test]
fn torn_mangled_and_exchanged_files_are_as_good_as_none() {
    let (_parent, dir, store, _) = store();
    let [one, two] = <[PathBuf; 2]>::try_from(files(&dir)).unwrap();
    let whole = [&one, &two].map(|path| fs::read(path).unwrap());
    let restore = || {
        fs::write(&one, &whole[0]).unwrap();
        fs::write(&two, &whole[1]).unwrap();
    };
    for length in 0..whole[0].len() {
        for path in [&one, &two] {
            fs::write(path, &whole[0][..length]).unwrap();
        }
        assert_eq!(find(&store, "main", ENTRIES), None, "{length} bytes");
    }
    for place in 0..whole[0].len() {
        for (path, bytes) in [&one, &two].into_iter().zip(&whole) {
            let mut mangled = bytes.clone();
            mangled[place] ^= 0x10;
            fs::write(path, mangled).unwrap();
        }
        assert_eq!(find(&store, "main", ENTRIES), None, "byte {place}");
    }
    fs::write(&one, &whole[1]).unwrap();
    fs::write(&two, &whole[0]).unwrap();
    assert_eq!(find(&store, "main", ENTRIES), None);
    fs::remove_dir_all(dir.join("snapshots")).unwrap();
    assert_eq!(find(&store, "main", ENTRIES), None);
    // Everything works even if a file is in place of the folder.
    fs::write(dir.join("snapshots"), "").unwrap();
    assert_eq!(find(&store, "main", ENTRIES), None);
    assert!(store.audit(&name("m")).unwrap().damage.is_empty());
    fs::remove_file(dir.join("snapshots")).unwrap();
    fs::create_dir(dir.join("snapshots")).unwrap();
    restore();
    assert!(find(&store, "main", ENTRIES).is_some());
}

#[test]
fn an_audit_hands_on_each_with_the_entries_before_it() {
    let (_parent, dir, store, [first, second]) = store();
    let mut snapshots = Vec::new();
    let (mut entries, mut paths) = (0, Vec::new());
    store
        .audit_with(&name("m"), &mut |audited| match audited {
            Audited::Entries(more) => entries += more.len() as u64,
            Audited::Snapshot { seq, rolls, state, path } => {
                assert_eq!(entries, seq, "what it follows was handed on before");
                snapshots.push(Snapshot { seq, rolls, state: state.to_vec() });
                paths.push(path.to_owned());
            }
            Audited::Sound(branch) => assert_eq!((branch.entries, entries), (ENTRIES, ENTRIES)),
            Audited::Damaged(damage) => panic!("{damage:?}"),
            Audited::Match(_) | Audited::Branch { .. } | Audited::Fork(_) => {}
        })
        .unwrap();
    assert_eq!(snapshots, [first, second]);
    paths.sort();
    assert_eq!(paths, files(&dir));
}
