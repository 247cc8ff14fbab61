//! Faults: a call to the backend fails, and nothing acknowledged is lost.

use std::collections::BTreeMap;

use crate::faulty::{Fault, FaultyBackend};
use turnfold_core::Seat;
use turnfold_store::backend::Backend;
use turnfold_store::backend::memory::MemoryBackend;
use turnfold_store::{BranchName, ErrorKind, Grant, GrantId, GrantKind, Store, StoreError};

use crate::game::{branch, genesis, labels, name, opaque};
use crate::grants::{new, token};

/// What a session was told before something failed.
#[derive(Clone, Default)]
pub(crate) struct Told {
    created: bool,
    main: Vec<u64>,
    line: Option<Vec<u64>>,
    /// The grants by the numbers of their tokens, and one that is being made, spent or revoked.
    grants: BTreeMap<u64, Grant>,
    changing: Option<u64>,
}

/// Plays a session until something fails, and tells what was acknowledged until then.
fn session(backend: FaultyBackend<MemoryBackend>) -> (Told, Option<StoreError>) {
    let mut told = Told::default();
    let failure = play(backend, &mut told).err();
    (told, failure)
}

fn play(backend: FaultyBackend<MemoryBackend>, told: &mut Told) -> Result<(), StoreError> {
    play_on(Box::new(backend), told, &mut |_| {})
}

/// Plays the session and tells after each call what was acknowledged until then.
pub(crate) fn play_on(
    backend: Box<dyn Backend>,
    told: &mut Told,
    tell: &mut dyn FnMut(&Told),
) -> Result<(), StoreError> {
    let store = Store::with_backend(backend)?;
    let (match_name, main, line) = (name("m"), BranchName::main(), branch("line"));
    store.create_match(&match_name, &genesis(), Vec::new())?;
    told.created = true;
    tell(told);
    let mut label = 0;
    for count in [1, 2, 60, 1, 1, 70, 3, 64, 1] {
        let head = told.main.len() as u64;
        let labels: Vec<_> = (label + 1..=label + count).collect();
        label += count;
        let entries = labels.iter().copied().map(opaque).collect();
        store.append(&match_name, &main, head, entries, Some(&format!("k{label}").parse().unwrap()))?;
        told.main.extend(labels);
        tell(told);
        store.read(&match_name, &main, None)?;
        if count > 50 {
            change_grants(&store, told, label, tell)?;
        }
    }
    store.create_branch(&match_name, &line, &main, 100)?;
    told.line = Some(told.main[..100].to_vec());
    tell(told);
    for label in 1000..1070 {
        let head = told.line.as_ref().map_or(0, Vec::len) as u64;
        store.append(&match_name, &line, head, vec![opaque(label)], None)?;
        told.line.iter_mut().for_each(|labels| labels.push(label));
        tell(told);
    }
    store.close()
}

/// Invites a player, who joins; then the grant is revoked again.
fn change_grants(
    store: &Store,
    told: &mut Told,
    number: u64,
    tell: &mut dyn FnMut(&Told),
) -> Result<(), StoreError> {
    let (invitation, seat) = (number, 1_000 + number);
    let now_ms = number.cast_signed();
    for step in 0..3 {
        told.changing = Some(if step == 0 { invitation } else { seat });
        tell(told);
        match step {
            0 => store.grant(&token(invitation), new(GrantKind::Invitation(Seat::P1)), now_ms)?,
            1 => _ = store.join(&token(invitation), &token(seat), now_ms)?,
            _ => _ = store.revoke_grant(&name("m"), GrantId::of(&token(seat)), now_ms)?,
        }
        for number in [invitation, seat] {
            told.grants.extend(store.find_grant(&token(number))?.map(|grant| (number, grant)));
        }
        told.changing = None;
        tell(told);
    }
    Ok(())
}

/// Requires the grants that were acknowledged, wholly as they were unless one was being changed.
fn check_grants(told: &Told, store: &Store, what: &str) {
    for (number, grant) in &told.grants {
        let found = store.find_grant(&token(*number)).unwrap();
        let found = found.unwrap_or_else(|| panic!("{what}: grant {number} is gone"));
        // An invitation is spent together with the grant that it became.
        let joined = found.became.map(|became| store.find_grant(&became).unwrap().is_some());
        assert_ne!(joined, Some(false), "{what}: grant {number} became nothing");
        let is_changing = told.changing.is_some_and(|changing| [*number, 1_000 + number].contains(&changing));
        assert!(found == *grant || is_changing, "{what}: {found:?} instead of {grant:?}");
    }
    let listed = store.grants_of(&name("m")).unwrap().len();
    assert!((told.grants.len()..=told.grants.len() + 1).contains(&listed), "{what}: {listed} grants");
}

/// Opens what is left and requires all that was acknowledged, and at most one append more.
pub(crate) fn check_survives(told: &Told, backend: &MemoryBackend, what: &str) {
    let store = Store::with_backend(Box::new(backend.copy())).unwrap();
    if !told.created && store.genesis(&name("m")).is_err() {
        return;
    }
    let main = labels(&store, "m", "main");
    assert!(main.starts_with(&told.main), "{what}: {main:?}");
    if let Some(expected) = &told.line {
        let line = labels(&store, "m", "line");
        assert!(line.starts_with(expected) && line.len() <= expected.len() + 1, "{what}: {line:?}");
    }
    check_grants(told, &store, what);
    // It goes on from there.
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
            let (told, failure) = session(FaultyBackend::new(memory.clone(), [kind(call)]));
            check_survives(&told, &memory, &format!("{:?}", kind(call)));
            let Some(error) = failure else { break };
            assert_eq!(error.kind(), ErrorKind::Trouble, "{error}");
            failures += 1;
        }
        assert!(failures >= 3, "{:?} never failed", kind(1));
    }
}

/// Creates a branch with 100 entries of its own on a match of 10; tells whether that was acknowledged.
fn create_branch(backend: FaultyBackend<MemoryBackend>) -> Result<(), StoreError> {
    let store = Store::with_backend(Box::new(backend))?;
    store.create_match(&name("m"), &genesis(), (1..=10).map(opaque).collect())?;
    let entries: Vec<_> = (101..=200).map(opaque).collect();
    store.create_branch_with(&name("m"), &branch("line"), &BranchName::main(), 7, entries)
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
            // The match itself was created with its entries, or there is no match.
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
