//! Matches and branches: shared prefixes, lists, deletions and refusals.

use turnfold_store::backend::MemoryBackend;
use turnfold_store::{BranchName, COMMAND_BYTES_MAX, ErrorKind, Store, StoreError};

use crate::engines::on_each;
use crate::game::{branch, commands, genesis, labels, name, opaque};
use crate::rescue::contents;

fn store(entries: u64) -> (Store, MemoryBackend) {
    let backend = MemoryBackend::new();
    let store = Store::with_backend(Box::new(backend.clone())).unwrap();
    store.create_match(&name("m"), &genesis(), (1..=entries).map(opaque).collect()).unwrap();
    (store, backend)
}

#[test]
fn a_branch_shares_its_prefix_without_copying_it() {
    for at in [0, 1, 63, 64, 65, 127, 128, 150] {
        let (store, backend) = store(150);
        let (main, line, twig) = (BranchName::main(), branch("line"), branch("twig"));
        store.create_branch(&name("m"), &line, &main, at, Vec::new()).unwrap();
        let records = backend.records().len();
        store.append(&name("m"), &line, at, (1001..=1100).map(opaque).collect::<Vec<_>>(), None).unwrap();
        assert!(backend.records().len() < records + 100);
        let mut expected: Vec<_> = (1..=at).chain(1001..=1100).collect();
        assert_eq!(labels(&store, "m", "line"), expected);
        assert_eq!(labels(&store, "m", "main"), (1..=150).collect::<Vec<_>>());

        // A branch of the branch, which begins in its own entries or before them.
        for fork in [at.saturating_sub(1), at, at + 30, at + 100] {
            let twig = branch(&format!("twig-{fork}"));
            store.create_branch(&name("m"), &twig, &line, fork, Vec::new()).unwrap();
            store.append(&name("m"), &twig, fork, vec![opaque(7)], None).unwrap();
            let prefix = expected.iter().take(usize::try_from(fork).unwrap()).copied();
            assert_eq!(labels(&store, "m", twig.as_str()), prefix.chain([7]).collect::<Vec<_>>());
            store.delete_branch(&name("m"), &twig).unwrap();
        }

        // The committer reads a branch again after reopening.
        store.close().unwrap();
        let store = Store::with_backend(Box::new(backend)).unwrap();
        store.append(&name("m"), &line, at + 100, vec![opaque(2000)], None).unwrap();
        expected.push(2000);
        assert_eq!(labels(&store, "m", "line"), expected);
        store.create_branch(&name("m"), &twig, &line, at + 101, Vec::new()).unwrap();
        assert_eq!(labels(&store, "m", "twig"), expected);
    }
}

#[test]
fn a_branch_begins_with_entries_of_its_own() {
    for (at, count) in [(0, 0), (0, 1), (3, 5), (64, 63), (64, 64), (100, 1), (100, 200), (150, 64)] {
        let (store, backend) = store(150);
        let (main, line) = (BranchName::main(), branch("line"));
        let mut expected: Vec<_> = (1..=at).chain(1001..=1000 + count).collect();
        let entries: Vec<_> = (1001..=1000 + count).map(opaque).collect();
        store.create_branch(&name("m"), &line, &main, at, entries).unwrap();
        assert_eq!(labels(&store, "m", "line"), expected);
        assert_eq!(labels(&store, "m", "main"), (1..=150).collect::<Vec<_>>());
        let listed = &store.branches(&name("m")).unwrap()[1];
        assert_eq!((listed.parent.clone(), listed.head), (Some((main, at)), at + count));

        // The branch can be continued before and after the store is reopened.
        store.append(&name("m"), &line, at + count, vec![opaque(7)], None).unwrap();
        store.close().unwrap();
        let store = Store::with_backend(Box::new(backend)).unwrap();
        store.append(&name("m"), &line, at + count + 1, vec![opaque(8)], None).unwrap();
        expected.extend([7, 8]);
        assert_eq!(labels(&store, "m", "line"), expected);
    }
}

#[test]
fn a_branch_with_entries_has_the_chain_of_one_that_was_appended_to() {
    on_each(|store| {
        store.create_match(&name("m"), &genesis(), (1..=10).map(opaque).collect()).unwrap();
        let (main, entries) = (BranchName::main(), || (20..=120).map(opaque).collect::<Vec<_>>());
        store.create_branch(&name("m"), &branch("at-once"), &main, 6, entries()).unwrap();
        store.create_branch(&name("m"), &branch("then"), &main, 6, Vec::new()).unwrap();
        store.append(&name("m"), &branch("then"), 6, entries(), None).unwrap();
        let branches = store.branches(&name("m")).unwrap();
        assert_eq!(branches[1].head_link, branches[2].head_link);
    });
}

#[test]
fn a_branch_with_a_command_too_large_is_refused() {
    on_each(|store| {
        store.create_match(&name("m"), &genesis(), (1..=3).map(opaque).collect()).unwrap();
        let before = contents(store);
        let mut entry = opaque(1);
        entry.command = vec![0; COMMAND_BYTES_MAX + 1];
        let entries = vec![opaque(1), entry];
        let error = store.create_branch(&name("m"), &branch("line"), &BranchName::main(), 1, entries);
        assert!(matches!(error, Err(StoreError::TooLarge { .. })), "{error:?}");
        assert_eq!(contents(store), before);
    });
}

#[test]
fn lists_show_names_heads_and_parents() {
    on_each(|store| {
        store.create_match(&name("m"), &genesis(), (1..=3).map(opaque).collect()).unwrap();
        store.create_match(&name("a"), &genesis(), Vec::new()).unwrap();
        let main = BranchName::main();
        for line in ["zoo", "alpha"] {
            store.create_branch(&name("m"), &branch(line), &main, 2, Vec::new()).unwrap();
        }
        store.append(&name("m"), &branch("zoo"), 2, vec![opaque(9)], None).unwrap();

        let matches = store.matches().unwrap();
        let listed: Vec<_> =
            matches.iter().map(|found| (found.name.as_str(), found.head, found.branches)).collect();
        assert_eq!(listed, [("a", 0, 1), ("m", 3, 3)]);
        assert_eq!(matches[1].genesis, genesis());

        let branches = store.branches(&name("m")).unwrap();
        let listed: Vec<_> =
            branches.iter().map(|found| (found.name.as_str(), found.parent.clone(), found.head)).collect();
        let parent = Some((main.clone(), 2));
        assert_eq!(listed, [("main", None, 3), ("alpha", parent.clone(), 2), ("zoo", parent, 3)]);
        assert_eq!(store.branches(&name("a")).unwrap()[0].head_link, genesis().link());
        assert_ne!(branches[0].head_link, branches[2].head_link);
    });
}

/// Also on an engine that creates it in one transaction (FL-14).
#[test]
fn what_cannot_be_is_refused_and_changes_nothing() {
    on_each(|store| {
        store.create_match(&name("m"), &genesis(), (1..=3).map(opaque).collect()).unwrap();
        let (main, line) = (BranchName::main(), branch("line"));
        store.create_branch(&name("m"), &line, &main, 1, Vec::new()).unwrap();
        store.create_branch(&name("m"), &branch("twig"), &line, 1, Vec::new()).unwrap();
        let before = contents(store);
        let check = |result: Result<(), StoreError>, text: &str| {
            let error = result.unwrap_err();
            assert!(error.to_string().contains(text), "{error}");
            assert_eq!(error.kind(), ErrorKind::Unusable);
        };
        check(store.create_match(&name("m"), &genesis(), Vec::new()), "match `m` already exists");
        check(store.create_branch(&name("m"), &line, &main, 1, Vec::new()), "already has a branch `line`");
        check(store.create_branch(&name("m"), &main, &main, 1, Vec::new()), "already has a branch `main`");
        check(
            store.create_branch(&name("m"), &branch("x"), &main, 4, Vec::new()),
            "has no entry 4: its head is 3",
        );
        check(
            store.create_branch(&name("m"), &branch("x"), &branch("y"), 0, Vec::new()),
            "has no branch `y`",
        );
        check(store.create_branch(&name("x"), &branch("x"), &main, 0, Vec::new()), "no match `x`");
        check(store.delete_branch(&name("m"), &main), "`main` of match `m` cannot be deleted");
        check(store.delete_branch(&name("m"), &line), "branch `twig` begins on it");
        check(store.delete_branch(&name("m"), &branch("x")), "has no branch `x`");
        check(store.read(&name("m"), &main, Some(4)).map(|_| ()), "has no entry 4: its head is 3");
        check(store.entries(&name("m"), &main, 2..=9).map(|_| ()), "has no entry 9: its head is 3");
        check(store.audit(&name("x")).map(|_| ()), "no match `x`");
        assert_eq!(contents(store), before);
    });
}

#[test]
fn a_deleted_branch_is_gone_and_its_name_free() {
    let (store, backend) = store(3);
    let before = backend.records();
    let line = branch("line");
    let key = "k".parse().unwrap();
    for label in 10..=12 {
        store.create_branch(&name("m"), &line, &BranchName::main(), 1, Vec::new()).unwrap();
        store.append(&name("m"), &line, 1, vec![opaque(label)], Some(&key)).unwrap();
        store.append(&name("m"), &line, 2, (0..100).map(opaque).collect::<Vec<_>>(), None).unwrap();
        assert_eq!(labels(&store, "m", "line")[1], label);
        store.delete_branch(&name("m"), &line).unwrap();
    }
    // The store's own record remains.
    let of_matches = |records: Vec<(Vec<u8>, Vec<u8>)>| -> Vec<_> {
        records.into_iter().filter(|(key, _)| key[0] != b's').collect()
    };
    assert_eq!(of_matches(backend.records()), of_matches(before));
}

#[test]
fn a_whole_match_is_sound_on_every_branch() {
    on_each(|store| {
        store.create_match(&name("m"), &genesis(), commands(100)).unwrap();
        let (main, line) = (BranchName::main(), branch("line"));
        store.create_branch(&name("m"), &line, &main, 70, Vec::new()).unwrap();
        let more = commands(80).into_iter().skip(70).collect::<Vec<_>>();
        store.append(&name("m"), &line, 70, more, Some(&"k".parse().unwrap())).unwrap();
        let twig: Vec<_> = commands(130).into_iter().skip(60).collect();
        store.create_branch(&name("m"), &branch("twig"), &main, 60, twig).unwrap();
        let audit = store.audit(&name("m")).unwrap();
        assert_eq!(audit.damage, []);
        let sizes: Vec<_> = audit.branches.iter().map(|found| (found.name.as_str(), found.entries)).collect();
        assert_eq!(sizes, [("main", 100), ("line", 80), ("twig", 130)]);
        for (verified, listed) in audit.branches.iter().zip(store.branches(&name("m")).unwrap()) {
            assert_eq!(verified.link, listed.head_link);
        }
    });
}
