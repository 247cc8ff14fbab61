//! Faults: when a call to the backend fails, nothing acknowledged is lost.

use std::collections::BTreeMap;

use crate::faulty::{Fault, FaultyBackend};
use turnfold_core::Seat;
use turnfold_store::backend::Backend;
use turnfold_store::backend::MemoryBackend;
use turnfold_store::{BranchName, ErrorKind, Grant, GrantId, GrantKind, Store, StoreError};

use crate::game::{branch, genesis, labels, name, opaque};
use crate::grants::{new, token};

/// What was acknowledged to a session before a failure.
#[derive(Clone, Default)]
pub(crate) struct Known {
    created: bool,
    main: Vec<u64>,
    line: Option<Vec<u64>>,
    /// The grants by the numbers of their tokens, and the one that is being created, spent or revoked.
    grants: BTreeMap<u64, Grant>,
    changing: Option<u64>,
}

/// Plays a session until a call fails, and returns what was acknowledged by then.
fn session(backend: FaultyBackend<MemoryBackend>) -> (Known, Option<StoreError>) {
    let mut known = Known::default();
    let failure = play(backend, &mut known).err();
    (known, failure)
}

fn play(backend: FaultyBackend<MemoryBackend>, known: &mut Known) -> Result<(), StoreError> {
    play_on(Box::new(backend), known, &mut |_| {})
}

/// Plays the session and reports after each call what has been acknowledged.
pub(crate) fn play_on(
    backend: Box<dyn Backend>,
    known: &mut Known,
    report: &mut dyn FnMut(&Known),
) -> Result<(), StoreError> {
    let store = Store::with_backend(backend)?;
    let (match_name, main, line) = (name("m"), BranchName::main(), branch("line"));
    store.create_match(&match_name, &genesis(), Vec::new())?;
    known.created = true;
    report(known);
    let mut label = 0;
    for count in [1, 2, 60, 1, 1, 70, 3, 64, 1] {
        let head = known.main.len() as u64;
        let labels: Vec<_> = (label + 1..=label + count).collect();
        label += count;
        let entries = labels.iter().copied().map(opaque).collect::<Vec<_>>();
        store.append(&match_name, &main, head, entries, Some(&format!("k{label}").parse().unwrap()))?;
        known.main.extend(labels);
        report(known);
        store.read(&match_name, &main, None)?;
        if count > 50 {
            change_grants(&store, known, label, report)?;
        }
    }
    store.create_branch(&match_name, &line, &main, 100, Vec::new())?;
    known.line = Some(known.main[..100].to_vec());
    report(known);
    for label in 1000..1070 {
        let head = known.line.as_ref().map_or(0, Vec::len) as u64;
        store.append(&match_name, &line, head, vec![opaque(label)], None)?;
        known.line.iter_mut().for_each(|labels| labels.push(label));
        report(known);
    }
    store.close()
}

/// Invites a player, who joins; then the grant is revoked again.
fn change_grants(
    store: &Store,
    known: &mut Known,
    number: u64,
    report: &mut dyn FnMut(&Known),
) -> Result<(), StoreError> {
    let (invitation, seat) = (number, 1_000 + number);
    let now_ms = number.cast_signed();
    for step in 0..3 {
        known.changing = Some(if step == 0 { invitation } else { seat });
        report(known);
        match step {
            0 => store.grant(&token(invitation), new(GrantKind::Invitation(Seat::P1)), now_ms)?,
            1 => _ = store.join(&token(invitation), &token(seat), None, now_ms)?,
            _ => _ = store.revoke_grant(&name("m"), GrantId::of(&token(seat)), now_ms)?,
        }
        for number in [invitation, seat] {
            known.grants.extend(store.find_grant(&token(number))?.map(|grant| (number, grant)));
        }
        known.changing = None;
        report(known);
    }
    Ok(())
}

/// Requires every acknowledged grant to be there unchanged, except one that was being changed.
fn check_grants(known: &Known, store: &Store, what: &str) {
    for (number, grant) in &known.grants {
        let found = store.find_grant(&token(*number)).unwrap();
        let found = found.unwrap_or_else(|| panic!("{what}: grant {number} is gone"));
        // An invitation is spent together with the grant that it became.
        let joined = found.became.map(|became| store.find_grant(&became).unwrap().is_some());
        assert_ne!(joined, Some(false), "{what}: grant {number} became nothing");
        let is_changing = known.changing.is_some_and(|one| [*number, 1_000 + number].contains(&one));
        assert!(found == *grant || is_changing, "{what}: {found:?} instead of {grant:?}");
    }
    let listed = store.grants_of(&name("m")).unwrap().len();
    assert!((known.grants.len()..=known.grants.len() + 1).contains(&listed), "{what}: {listed} grants");
}

/// Opens the remaining store and requires everything acknowledged, and at most one more append.
pub(crate) fn check_survives(known: &Known, backend: &MemoryBackend, what: &str) {
    let store = Store::with_backend(Box::new(backend.copy())).unwrap();
    if !known.created && store.genesis(&name("m")).is_err() {
        return;
    }
    let main = labels(&store, "m", "main");
    assert!(main.starts_with(&known.main), "{what}: {main:?}");
    if let Some(expected) = &known.line {
        let line = labels(&store, "m", "line");
        assert!(line.starts_with(expected) && line.len() <= expected.len() + 1, "{what}: {line:?}");
    }
    check_grants(known, &store, what);
    // The store continues from there.
    let head = main.len() as u64;
    store.append(&name("m"), &BranchName::main(), head, vec![opaque(5)], None).unwrap();
    assert_eq!(labels(&store, "m", "main"), [main, vec![5]].concat());
}

#[test]
fn nothing_acknowledged_is_lost_whichever_call_fails() {
    for kind in Fault::FAILING {
        let mut failures = 0;
        for call in 1.. {
            let memory = MemoryBackend::new();
            let (known, failure) = session(FaultyBackend::new(memory.clone(), [kind(call)]));
            check_survives(&known, &memory, &format!("{:?}", kind(call)));
            let Some(error) = failure else { break };
            assert_eq!(error.kind(), ErrorKind::Trouble, "{error}");
            failures += 1;
        }
        assert!(failures >= 3, "{:?} never failed", kind(1));
    }
}

/// Creates a branch with 100 entries of its own on a match of 10. Succeeds if the branch was acknowledged.
fn create_branch(backend: FaultyBackend<MemoryBackend>) -> Result<(), StoreError> {
    let store = Store::with_backend(Box::new(backend))?;
    store.create_match(&name("m"), &genesis(), (1..=10).map(opaque).collect())?;
    let entries: Vec<_> = (101..=200).map(opaque).collect();
    store.create_branch(&name("m"), &branch("line"), &BranchName::main(), 7, entries)
}

#[test]
fn a_branch_is_created_with_all_its_entries_or_not_at_all_whichever_call_fails() {
    let whole: Vec<_> = (1..=7).chain(101..=200).collect();
    let (mut absent, mut unacknowledged) = (0, 0);
    for kind in Fault::FAILING {
        for call in 1..100 {
            let memory = MemoryBackend::new();
            let acknowledged = create_branch(FaultyBackend::new(memory.clone(), [kind(call)])).is_ok();
            let store = Store::with_backend(Box::new(memory.copy())).unwrap();
            let Ok(branches) = store.branches(&name("m")) else {
                assert!(!acknowledged, "{:?}", kind(call));
                continue;
            };
            // Either the match was created with its entries, or there is no match.
            assert_eq!(labels(&store, "m", "main"), (1..=10).collect::<Vec<_>>(), "{:?}", kind(call));
            if branches.len() == 1 {
                assert!(!acknowledged, "{:?}", kind(call));
                absent += 1;
            } else {
                assert_eq!(labels(&store, "m", "line"), whole, "{:?}", kind(call));
                unacknowledged += i32::from(!acknowledged);
            }
        }
    }
    assert!(absent > 3 && unacknowledged > 0, "{absent} absent, {unacknowledged} not acknowledged");
}

/// ST-8.
#[test]
fn after_a_failed_write_the_handle_takes_no_more_and_shows_only_what_is_durable() {
    for fault in [Fault::Write(4), Fault::DiskFull(4)] {
        let memory = MemoryBackend::new();
        let store = Store::with_backend(Box::new(FaultyBackend::new(memory.clone(), [fault]))).unwrap();
        let (match_name, main) = (name("m"), BranchName::main());
        store.create_match(&match_name, &genesis(), Vec::new()).unwrap();
        store.append(&match_name, &main, 0, vec![opaque(1)], None).unwrap();
        let key = "k".parse().unwrap();
        let error = store.append(&match_name, &main, 1, vec![opaque(2)], Some(&key)).unwrap_err();
        match fault {
            Fault::DiskFull(_) => assert!(matches!(error, StoreError::Full { .. }), "{error}"),
            _ => assert!(matches!(error, StoreError::Unsettled { .. }), "{error}"),
        }
        assert_eq!(labels(&store, "m", "main"), [1]);
        assert_eq!(store.find_idempotency_key(&match_name, &main, &key).unwrap(), None);
        let error = store.append(&match_name, &main, 1, vec![opaque(2)], None).unwrap_err();
        match fault {
            Fault::DiskFull(_) => assert!(matches!(error, StoreError::Full { .. }), "{error}"),
            _ => assert!(matches!(error, StoreError::Failed { .. }), "{error}"),
        }
        assert!(store.close().is_err());

        let store = Store::with_backend(Box::new(memory.copy())).unwrap();
        assert_eq!(labels(&store, "m", "main"), [1]);
    }
}
