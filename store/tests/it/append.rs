//! Appending: order, conflicts, repeated appends, pages, many threads.

use std::ops::RangeInclusive;
use std::sync::mpsc;
use std::thread;

use turnfold_core::Seat;
use turnfold_store::backend::MemoryBackend;
use turnfold_store::{
    Appended, BranchHead, BranchName, ErrorKind, IdempotencyKey, NewEntry, Store, StoreError,
};

use crate::engines::on_each;
use crate::game::{branch, genesis, labels, name, opaque};

fn append(
    store: &Store,
    head: u64,
    range: RangeInclusive<u64>,
    key: Option<&str>,
) -> Result<Appended, StoreError> {
    let key = key.map(|key| key.parse::<IdempotencyKey>().unwrap());
    store.append(&name("m"), &BranchName::main(), head, range.map(opaque).collect::<Vec<_>>(), key.as_ref())
}

#[test]
fn a_moved_head_is_a_conflict_that_reports_where_it_is() {
    on_each(|store| {
        store.create_match(&name("m"), &genesis(), Vec::new()).unwrap();
        append(store, 0, 1..=3, None).unwrap();
        for expected in [0, 2, 4] {
            let error = append(store, expected, 9..=9, None).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Negative);
            assert_eq!(error.to_string(), format!("conflict in `m@main`: expected head {expected}, found 3"));
        }
        assert_eq!(labels(store, "m", "main"), [1, 2, 3]);
    });
}

#[test]
fn a_caller_that_does_not_wait_is_called_with_the_result() {
    on_each(|store| {
        store.create_match(&name("m"), &genesis(), Vec::new()).unwrap();
        let (sender, answers) = mpsc::channel();
        let append = |head, entries| {
            let sender = sender.clone();
            let then = move |answer| sender.send(answer).unwrap();
            let id = store.branch_head(&name("m"), &BranchName::main()).unwrap().id;
            let expected = BranchHead { id, seq: head };
            store.append_then(&name("m"), &BranchName::main(), expected, entries, None, then)
        };
        append(0, vec![opaque(1), opaque(2)]).unwrap();
        assert_eq!(answers.recv().unwrap().unwrap(), Appended { first: 1, last: 2, repeated: false });
        assert_eq!(labels(store, "m", "main"), [1, 2]);
        append(1, vec![opaque(3)]).unwrap();
        let error = answers.recv().unwrap().unwrap_err();
        assert!(matches!(error, StoreError::Conflict { expected: 1, head: 2, .. }), "{error}");
        // An error that is known at once is returned at once, without a call of the callback.
        assert!(matches!(append(2, Vec::new()), Err(StoreError::NothingToAppend { .. })));
        append(2, vec![opaque(3)]).unwrap();
        assert_eq!(answers.recv().unwrap().unwrap().last, 3);
        assert!(answers.try_recv().is_err());
    });
}

#[test]
fn a_key_gives_the_first_result_again_at_any_head() {
    on_each(|store| {
        store.create_match(&name("m"), &genesis(), Vec::new()).unwrap();
        let first = append(store, 0, 1..=2, Some("k")).unwrap();
        assert_eq!(first, Appended { first: 1, last: 2, repeated: false });
        append(store, 2, 3..=3, None).unwrap();
        for head in [0, 2, 3, 99] {
            let again = append(store, head, 1..=2, Some("k")).unwrap();
            assert_eq!(again, Appended { repeated: true, ..first });
        }
        for other in [1..=1, 1..=3, 2..=3] {
            for head in [0, 2, 3] {
                let error = append(store, head, other.clone(), Some("k")).unwrap_err();
                assert_eq!(error.kind(), ErrorKind::Negative);
                assert_eq!(
                    error.to_string(),
                    "the idempotency key was used for other commands, entries 1 to 2 of `m@main`"
                );
            }
        }
        let (match_name, main, key) = (name("m"), BranchName::main(), "k".parse().unwrap());
        // Another seat makes another payload. The time of recording does not.
        let by = |seat, recorded_at_ms| {
            let entries =
                (1..=2).map(|label| NewEntry { seat, recorded_at_ms, ..opaque(label) }).collect::<Vec<_>>();
            store.append(&match_name, &main, 0, entries, Some(&key))
        };
        assert!(matches!(by(Seat::P2, 0), Err(StoreError::IdempotencyKeyReused { first: 1, last: 2, .. })));
        assert_eq!(by(Seat::P1, 99).unwrap(), Appended { repeated: true, ..first });
        assert_eq!(store.find_idempotency_key(&match_name, &main, &key).unwrap(), Some(1..=2));
        assert_eq!(store.find_idempotency_key(&match_name, &main, &"other".parse().unwrap()).unwrap(), None);

        // A key belongs to the branch on which it was used.
        let line = branch("line");
        store.create_branch(&match_name, &line, &main, 3, Vec::new()).unwrap();
        assert_eq!(store.find_idempotency_key(&match_name, &line, &key).unwrap(), None);
        let appended = store.append(&match_name, &line, 3, vec![opaque(4)], Some(&key)).unwrap();
        assert_eq!(appended, Appended { first: 4, last: 4, repeated: false });
        assert_eq!(labels(store, "m", "main"), [1, 2, 3]);
        assert_eq!(labels(store, "m", "line"), [1, 2, 3, 4]);
    });
}

/// In a database the appends are in one group, or conflict with each other (FL-13).
#[test]
fn a_key_repeated_by_many_threads_at_once_appends_once() {
    on_each(|store| {
        store.create_match(&name("m"), &genesis(), Vec::new()).unwrap();
        for (round, entries) in [1..=1, 1..=3, 1..=70].into_iter().enumerate() {
            let key = format!("k{round}");
            let head = store.head(&name("m"), &BranchName::main()).unwrap();
            let appended: Vec<_> = thread::scope(|scope| {
                let one = || append(store, head, entries.clone(), Some(&key)).unwrap();
                let threads: Vec<_> = (0..8).map(|_| scope.spawn(one)).collect();
                threads.into_iter().map(|thread| thread.join().unwrap()).collect()
            });
            assert_eq!(appended.iter().filter(|appended| !appended.repeated).count(), 1);
            assert!(appended.iter().all(|appended| appended.first == head + 1));
        }
        assert_eq!(store.head(&name("m"), &BranchName::main()).unwrap(), 74);
    });
}

#[test]
fn unusable_appends_are_refused() {
    on_each(|store| {
        store.create_match(&name("m"), &genesis(), Vec::new()).unwrap();
        let main = BranchName::main();
        let error = store.append(&name("m"), &main, 0, Vec::new(), None).unwrap_err();
        assert!(matches!(error, StoreError::NothingToAppend { .. }));
        let mut huge = opaque(1);
        huge.command = vec![0; turnfold_store::COMMAND_BYTES_MAX + 1];
        let error = store.append(&name("m"), &main, 0, vec![huge], None).unwrap_err();
        assert!(matches!(error, StoreError::TooLarge { .. }));
        let error = store.append(&name("x"), &main, 0, vec![opaque(1)], None).unwrap_err();
        assert!(matches!(error, StoreError::NoSuchMatch { .. }));
        let error = store.append(&name("m"), &branch("x"), 0, vec![opaque(1)], None).unwrap_err();
        assert!(matches!(error, StoreError::NoSuchBranch { .. }));
        assert_eq!(store.head(&name("m"), &main).unwrap(), 0);
    });
}

/// Returns the number of records in a table of a backend.
fn count(backend: &MemoryBackend, table: u8) -> usize {
    backend.records().iter().filter(|(key, _)| key[0] == table).count()
}

#[test]
fn pages_of_all_sizes_read_the_same() {
    for batch in [1, 5, 63, 64, 65, 200] {
        let backend = MemoryBackend::new();
        let store = Store::with_backend(Box::new(backend.clone())).unwrap();
        store.create_match(&name("m"), &genesis(), Vec::new()).unwrap();
        let mut head = 0;
        while head < 300 {
            append(&store, head, head + 1..=head + batch, None).unwrap();
            head += batch;
            assert_eq!(labels(&store, "m", "main"), (1..=head).collect::<Vec<_>>());
        }
        store.close().unwrap();
        assert!(count(&backend, b'p') >= 4, "batches of {batch}");

        let store = Store::with_backend(Box::new(backend)).unwrap();
        assert_eq!(labels(&store, "m", "main"), (1..=head).collect::<Vec<_>>());
        append(&store, head, head + 1..=head + 1, None).unwrap();
        let all: Vec<_> = (1..=head + 1).collect();
        assert_eq!(labels(&store, "m", "main"), all);
        for from in [1, 2, 63, 64, 65, 66, 128, 129, head, head + 1] {
            let range = from..=head + 1;
            let entries = store.entries(&name("m"), &BranchName::main(), range.clone()).unwrap();
            let seqs: Vec<_> = entries.map(|entry| entry.unwrap().seq).collect();
            assert_eq!(seqs, range.collect::<Vec<_>>());
        }
    }
}
