//! Copies: a match created in one step from the branches and entries of another, also with another Genesis.

use turnfold_store::backend::MemoryBackend;
use turnfold_store::{BranchCopy, Genesis, Store, StoreError};

use crate::engines::on_each;
use crate::faulty::{Fault, FaultyBackend};
use crate::game::{branch, commands, genesis, name};
use crate::rescue::{contents, fill};

/// Returns the branches of a match. Parents come first, because the names in the store that `fill` fills sort that way.
fn branches_of(store: &Store, match_name: &str) -> Vec<BranchCopy> {
    let infos = store.branches(&name(match_name)).unwrap().into_iter();
    let copies = infos.map(|info| {
        let log = store.read(&name(match_name), &info.name, None).unwrap();
        let forked_at = info.parent.as_ref().map_or(0, |(_, at)| *at);
        let entries = log.entries.into_iter().filter(|entry| entry.seq > forked_at).collect();
        BranchCopy { name: info.name, parent: info.parent, entries }
    });
    copies.collect()
}

/// Returns the Genesis of the match that continues `m`.
fn migrated(store: &Store) -> Genesis {
    let main = store.branches(&name("m")).unwrap().remove(0);
    let old = store.genesis(&name("m")).unwrap();
    old.migrated(2, old.origin(main.head, main.head_link), &[])
}

#[test]
fn a_copy_has_the_same_branches_entries_and_keys() {
    on_each(|store| {
        fill(store);
        let before = contents(store);
        store.copy_match(&name("again"), &genesis(), branches_of(store, "m")).unwrap();
        // With the same Genesis, all links are also the same.
        let after = contents(store);
        let lines = |text: &str, from: &str| {
            let lines = text.lines().skip_while(|line| !line.contains(&format!("MatchName(\"{from}\")")));
            lines
                .skip(1)
                .take_while(|line| !line.starts_with("MatchInfo"))
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        assert!(lines(&after, "m").len() > 3);
        assert_eq!(lines(&after, "again"), lines(&after, "m"));
        assert_eq!(lines(&after, "m"), lines(&before, "m"));
        // An append with a known key is not repeated.
        let key = "k".parse().unwrap();
        let again = store.append(&name("again"), &branch("line"), 65, commands(67).split_off(65), Some(&key));
        assert!(again.unwrap().repeated);
        store.append(&name("again"), &branch("twig"), 13, commands(14).split_off(13), None).unwrap();
        assert_eq!(store.check(&mut |_| {}).unwrap().damage, []);
    });
}

#[test]
fn a_migrated_match_names_its_origin_on_every_engine() {
    on_each(|store| {
        fill(store);
        let genesis = migrated(store);
        store.copy_match(&name("new"), &genesis, branches_of(store, "m")).unwrap();
        assert_eq!(store.genesis(&name("new")).unwrap(), genesis);
        let infos = store.matches().unwrap();
        assert!(infos.iter().any(|info| info.genesis == genesis && info.branches == 3));
        let [old, new] = ["m", "new"].map(|of| branches_of(store, of));
        assert_eq!(old, new);
        assert_eq!(store.check(&mut |_| {}).unwrap().damage, []);
        // The copy survives a backup, as every match does.
        let mut backup = Vec::new();
        store.backup(&mut backup, true, &mut |_| {}).unwrap();
        let restored = Store::restore_in_memory(backup.as_slice()).unwrap();
        assert_eq!(contents(&restored), contents(store));
    });
}

#[test]
fn what_cannot_be_copied_is_refused_and_nothing_is_there() {
    on_each(|store| {
        fill(store);
        let whole = branches_of(store, "m");
        let copy = |match_name: &str, change: &dyn Fn(&mut Vec<BranchCopy>)| {
            let mut branches = whole.clone();
            change(&mut branches);
            store.copy_match(&name(match_name), &genesis(), branches).unwrap_err()
        };
        let before = contents(store);
        assert!(matches!(copy("empty", &|_| {}), StoreError::AlreadyExists { .. }));
        assert!(matches!(copy("x", &|of| of.swap(1, 2)), StoreError::NoSuchBranch { .. }));
        assert!(matches!(copy("x", &|of| of[1].parent = None), StoreError::NoSuchBranch { .. }));
        assert!(matches!(copy("x", &|of| of[2].name = branch("line")), StoreError::BranchExists { .. }));
        let far = |of: &mut Vec<BranchCopy>| of[1].parent.as_mut().unwrap().1 = 67;
        assert!(matches!(copy("x", &far), StoreError::NoSuchSeq { seq: 67, head: 66, .. }));
        let large = |of: &mut Vec<BranchCopy>| of[2].entries[0].command = vec![0; 70_000];
        assert!(matches!(copy("x", &large), StoreError::TooLarge { .. }));
        assert_eq!(contents(store), before);
    });
}

#[test]
fn a_copy_is_wholly_there_or_not_at_all_whichever_call_fails() {
    let (mut absent, mut unacknowledged) = (0, 0);
    let sample = crate::rescue::sample();
    let old = Store::with_backend(Box::new(sample.copy())).unwrap();
    let (genesis, branches) = (migrated(&old), branches_of(&old, "m"));
    for kind in Fault::FAILING {
        for call in 1..40 {
            let memory: MemoryBackend = sample.copy();
            let faulty = FaultyBackend::new(memory.clone(), [kind(call)]);
            let copied = Store::with_backend(Box::new(faulty))
                .and_then(|store| store.copy_match(&name("new"), &genesis, branches.clone()));
            let store = Store::with_backend(Box::new(memory.copy())).unwrap();
            if store.genesis(&name("new")).is_err() {
                assert!(copied.is_err(), "{:?}", kind(call));
                absent += 1;
                continue;
            }
            assert_eq!(branches_of(&store, "new"), branches, "{:?}", kind(call));
            assert_eq!(store.check(&mut |_| {}).unwrap().damage, []);
            unacknowledged += i32::from(copied.is_err());
        }
    }
    assert!(absent > 3 && unacknowledged > 0, "{absent} absent, {unacknowledged} not acknowledged");
}
