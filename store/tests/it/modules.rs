//! MD-9: the module of a match is recorded with the first entries that it judged, and from then on no other module can
//! judge.

use std::thread;

use turnfold_core::Digest;
use turnfold_store::{
    BranchCopy, BranchName, Genesis, MatchName, NewEntries, Store, StoreError, StoreOptions,
};

use crate::engines::on_each;
use crate::game::{branch, genesis, name, opaque};
use crate::rescue::{contents, unobserved};

const ONE: Digest = Digest::new([1; 32]);
const OTHER: Digest = Digest::new([2; 32]);

fn played_by(store: &Store, match_name: &str) -> Option<Digest> {
    let genesis = store.genesis(&name(match_name)).unwrap();
    let listed = store.matches().unwrap().into_iter().find(|info| info.name == name(match_name)).unwrap();
    let read = store.read(&name(match_name), &BranchName::main(), Some(0)).unwrap();
    assert_eq!((&listed.genesis, &read.genesis), (&genesis, &genesis));
    genesis.played_by
}

/// Appends one entry to `main`, judged by a module.
fn append(store: &Store, match_name: &str, module: Digest) -> Result<u64, StoreError> {
    let of = name(match_name);
    let head = store.head(&of, &BranchName::main()).unwrap();
    let entries = NewEntries { entries: vec![opaque(head)].into(), module: Some(module) };
    store.append(&of, &BranchName::main(), head, entries, None).map(|appended| appended.last)
}

fn require_refused<T>(done: Result<T, StoreError>, match_name: &MatchName) {
    let error = done.map(|_| ()).unwrap_err();
    let StoreError::OtherModule { match_name: of, recorded, found } = &error else { panic!("{error}") };
    assert_eq!((of, *recorded, *found), (match_name, ONE, OTHER));
}

/// Fills a store with a match `m` that is played by a module, and a match `plain` without a module.
fn fill(store: &Store) {
    store.create_match(&name("m"), &genesis(), vec![opaque(0)]).unwrap();
    store.create_match(&name("plain"), &genesis(), vec![opaque(0)]).unwrap();
    append(store, "m", ONE).unwrap();
}

#[test]
fn md_9_the_first_append_by_a_module_records_it_and_another_is_refused() {
    on_each(|store| {
        store.create_match(&name("m"), &genesis(), vec![opaque(0)]).unwrap();
        assert_eq!(played_by(store, "m"), None);
        // A refused append records no module.
        let late = NewEntries { entries: vec![opaque(1)].into(), module: Some(OTHER) };
        let late = store.append(&name("m"), &BranchName::main(), 0, late, None);
        assert!(matches!(late, Err(StoreError::Conflict { .. })));
        assert_eq!(played_by(store, "m"), None);
        append(store, "m", ONE).unwrap();
        assert_eq!(played_by(store, "m"), Some(ONE));
        let before = contents(store);
        require_refused(append(store, "m", OTHER), &name("m"));
        let line = NewEntries { entries: vec![opaque(9)].into(), module: Some(OTHER) };
        let made = store.create_branch(&name("m"), &branch("line"), &BranchName::main(), 1, line);
        require_refused(made, &name("m"));
        assert_eq!(contents(store), before);
        assert_eq!(append(store, "m", ONE).unwrap(), 3);
        assert_eq!(store.genesis(&name("m")).unwrap().link(), genesis().link());
    });
}

#[test]
fn md_9_a_branch_and_a_new_match_record_the_module_of_their_first_entries() {
    on_each(|store| {
        store.create_match(&name("m"), &genesis(), vec![opaque(0)]).unwrap();
        let line = NewEntries { entries: vec![opaque(1)].into(), module: Some(ONE) };
        store.create_branch(&name("m"), &branch("line"), &BranchName::main(), 1, line).unwrap();
        require_refused(append(store, "m", OTHER), &name("m"));
        let by_one = Genesis { played_by: Some(ONE), ..genesis() };
        store.create_match(&name("new"), &by_one, vec![opaque(0)]).unwrap();
        store.create_match(&name("empty"), &by_one, Vec::new()).unwrap();
        let entries = store.read(&name("m"), &BranchName::main(), None).unwrap().entries;
        let copy = vec![BranchCopy { name: BranchName::main(), parent: None, entries }];
        store.copy_match(&name("copy"), &by_one, copy).unwrap();
        let found = ["m", "new", "empty", "copy"].map(|of| played_by(store, of));
        assert_eq!(found, [Some(ONE), Some(ONE), None, Some(ONE)]);
        assert_eq!(store.check(&mut unobserved()).unwrap().damage, []);
    });
}

#[test]
fn md_9_a_match_that_pins_a_module_is_played_by_it_and_nothing_is_recorded() {
    on_each(|store| {
        store.create_match(&name("m"), &genesis().pinned(Some(ONE)), Vec::new()).unwrap();
        append(store, "m", ONE).unwrap();
        require_refused(append(store, "m", OTHER), &name("m"));
        assert_eq!(played_by(store, "m"), None);
    });
}

#[test]
fn md_9_the_record_stays_with_its_match_and_goes_with_it() {
    on_each(|store| {
        fill(store);
        store.create_branch(&name("m"), &branch("line"), &BranchName::main(), 1, Vec::new()).unwrap();
        store.rename_match(&name("m"), &name("renamed")).unwrap();
        store.delete_branch(&name("renamed"), &branch("line")).unwrap();
        assert_eq!(played_by(store, "renamed"), Some(ONE));
        require_refused(append(store, "renamed", OTHER), &name("renamed"));
        store.create_match(&name("m"), &genesis(), Vec::new()).unwrap();
        append(store, "m", OTHER).unwrap();
        store.delete_match(&name("m")).unwrap();
        store.create_match(&name("m"), &genesis(), Vec::new()).unwrap();
        append(store, "m", ONE).unwrap();
        assert_eq!(store.check(&mut unobserved()).unwrap().damage, []);
    });
}

#[test]
fn md_9_a_backup_carries_the_record_and_one_without_it_is_as_before() {
    on_each(|store| {
        fill(store);
        let mut backup = Vec::new();
        store.backup(&mut backup, false, &mut unobserved()).unwrap();
        let restored = Store::restore_in_memory(backup.as_slice()).unwrap();
        assert_eq!(contents(&restored), contents(store));
        require_refused(append(&restored, "m", OTHER), &name("m"));
        // Without the record the backup has one part less: its length, its number and digest, and its check.
        let plain = Store::in_memory();
        fill(&plain);
        plain.delete_match(&name("m")).unwrap();
        plain.create_match(&name("m"), &genesis(), vec![opaque(0), opaque(1)]).unwrap();
        let mut before = Vec::new();
        plain.backup(&mut before, false, &mut unobserved()).unwrap();
        assert_eq!(backup.len() - before.len(), 4 + 1 + 32 + 32);
    });
}

#[test]
fn md_9_the_record_is_there_after_reopening_compaction_and_salvage() {
    let parent = tempfile::tempdir().unwrap();
    let dir = parent.path().join("store");
    // Small heads, so that the record is also in the index.
    let open = || StoreOptions::new().create().head_bytes(6 * 1024).open(&dir).unwrap();
    let store = open();
    fill(&store);
    for number in 0..40 {
        store.create_match(&name(&format!("m{number}")), &genesis(), (0..20).map(opaque).collect()).unwrap();
    }
    let before = contents(&store);
    store.close().unwrap();
    let store = open();
    assert_eq!(contents(&store), before);
    require_refused(append(&store, "m", OTHER), &name("m"));
    store.close().unwrap();
    Store::salvage(&dir, &parent.path().join("salvaged"), &mut unobserved()).unwrap();
    Store::compact(&dir, &mut unobserved()).unwrap();
    for dir in [&dir, &parent.path().join("salvaged")] {
        let store = Store::open(dir).unwrap();
        assert_eq!(contents(&store), before);
        require_refused(append(&store, "m", OTHER), &name("m"));
        store.close().unwrap();
    }
}

/// In any order, one module is recorded, and it judged every acknowledged entry.
#[test]
fn md_9_of_writers_with_two_modules_only_one_appends() {
    on_each(|store| {
        let branches = [BranchName::main(), branch("line")];
        for round in 0..20 {
            let of = name(&format!("m{round}"));
            store.create_match(&of, &genesis(), vec![opaque(0)]).unwrap();
            store.create_branch(&of, &branches[1], &BranchName::main(), 1, Vec::new()).unwrap();
            let done = thread::scope(|scope| {
                let writers = [ONE, OTHER].into_iter().zip(&branches).map(|(module, branch)| {
                    let of = &of;
                    scope.spawn(move || {
                        let entries = NewEntries { entries: vec![opaque(1)].into(), module: Some(module) };
                        store.append(of, branch, 1, entries, None).map(|_| module)
                    })
                });
                let writers: Vec<_> = writers.collect();
                writers.into_iter().map(|writer| writer.join().unwrap()).collect::<Vec<_>>()
            });
            let (kept, refused): (Vec<_>, Vec<_>) = done.into_iter().partition(Result::is_ok);
            let kept: Vec<_> = kept.into_iter().flatten().collect();
            assert_eq!(kept, store.genesis(&of).unwrap().played_by.into_iter().collect::<Vec<_>>());
            let found = &refused[0];
            assert!(matches!(found, Err(StoreError::OtherModule { .. })), "{found:?}");
        }
    });
}
