//! Grants of a log that is renamed, deleted, compacted, backed up, salvaged or damaged.

use std::fs;
use std::path::Path;

use turnfold_core::{Digest, Seat};
use turnfold_store::backend::MemoryBackend;
use turnfold_store::{Grant, GrantId, GrantKind, JoinedSeat, Store, StoreError};

use super::{NOW, is_sound, new, token};
use crate::game::{commands, genesis, name};
use crate::rescue::salvage::salvage;
use crate::rescue::unobserved;

#[test]
fn a_renamed_match_keeps_its_grants_and_a_deleted_one_leaves_none() {
    let backend = MemoryBackend::new();
    let store = Store::with_backend(Box::new(backend.clone())).unwrap();
    let (m, n) = (name("m"), name("n"));
    store.create_match(&m, &genesis(), Vec::new()).unwrap();
    store.grant(&token(1), new(GrantKind::Invitation(Seat::P1)), NOW).unwrap();
    store.grant(&token(2), new(GrantKind::Host), NOW).unwrap();
    store.rename_match(&m, &n).unwrap();
    assert_eq!(store.find_grant(&token(1)).unwrap().unwrap().match_name, n);
    let JoinedSeat::Now(grant) = store.join(&token(1), &token(3), None, NOW).unwrap() else { panic!() };
    assert_eq!(grant.match_name, n);
    // A new match with the same name has none of its grants.
    store.create_match(&m, &genesis(), Vec::new()).unwrap();
    assert_eq!(store.grants_of(&m).unwrap(), []);
    assert_eq!(store.grants_of(&n).unwrap().len(), 3);
    is_sound(&store);
    store.delete_match(&n).unwrap();
    assert!((1..=3).all(|number| store.find_grant(&token(number)).unwrap().is_none()));
    store.create_match(&n, &genesis(), Vec::new()).unwrap();
    assert_eq!(store.grants_of(&n).unwrap(), []);
    assert!(backend.records().iter().all(|(key, _)| !matches!(key[0], b'a' | b'i')));
    is_sound(&store);
}

fn grants_in(dir: &Path) -> Vec<(Digest, Grant)> {
    let store = Store::open(dir).unwrap();
    is_sound(&store);
    let grants = store.grants_of(&name("m")).unwrap();
    assert_eq!(grants.len(), grants.iter().filter_map(|(hash, _)| store.find_grant(hash).unwrap()).count());
    store.close().unwrap();
    grants
}

#[test]
fn no_backup_and_no_salvage_has_grants() {
    let parent = tempfile::tempdir().unwrap();
    let at = |name: &str| parent.path().join(name);
    let store = Store::open_or_create(&at("store")).unwrap();
    // In the compacted store the match has another id.
    store.create_match(&name("before"), &genesis(), Vec::new()).unwrap();
    store.create_match(&name("m"), &genesis(), commands(300)).unwrap();
    store.delete_match(&name("before")).unwrap();
    store.grant(&token(1), new(GrantKind::Invitation(Seat::P1)), NOW).unwrap();
    store.grant(&token(2), new(GrantKind::Host), NOW).unwrap();
    store.join(&token(1), &token(3), None, NOW).unwrap();
    for number in 0..20 {
        let wasted = name(&format!("w{number}"));
        store.create_match(&wasted, &genesis(), commands(200)).unwrap();
        store.delete_match(&wasted).unwrap();
    }
    assert_eq!(store.stats(1, &mut unobserved()).unwrap().totals.matches, 1);
    let mut backup = Vec::new();
    store.backup(&mut backup, false, &mut unobserved()).unwrap();
    assert!((1..=3).all(|number| !backup.windows(32).any(|found| found == token(number).as_bytes())));
    store.close().unwrap();

    Store::restore(backup.as_slice(), &at("restored"), &mut unobserved()).unwrap();
    assert_eq!(grants_in(&at("restored")), []);
    let saved = salvage(&at("store"), &at("saved")).unwrap();
    assert_eq!(saved.lost, []);
    assert_eq!(grants_in(&at("saved")), []);
    // Also with a damaged journal.
    fs::remove_file(at("store").join("journal/head.a")).unwrap();
    let saved = salvage(&at("store"), &at("again")).unwrap();
    assert_eq!(saved.saved.entries, 300, "{:?}", saved.lost);
    assert_eq!(grants_in(&at("again")), []);
}

#[test]
fn a_compacted_store_has_the_same_grants() {
    let parent = tempfile::tempdir().unwrap();
    let dir = parent.path().join("store");
    let store = Store::open_or_create(&dir).unwrap();
    store.create_match(&name("before"), &genesis(), Vec::new()).unwrap();
    store.create_match(&name("m"), &genesis(), commands(300)).unwrap();
    store.delete_match(&name("before")).unwrap();
    store.grant(&token(1), new(GrantKind::Invitation(Seat::P1)), NOW).unwrap();
    store.join(&token(1), &token(3), None, NOW).unwrap();
    store.close().unwrap();
    let before = grants_in(&dir);
    Store::compact(&dir, &mut unobserved()).unwrap();
    assert_eq!(grants_in(&dir), before);
    let store = Store::open(&dir).unwrap();
    assert!(matches!(store.join(&token(1), &token(3), None, NOW).unwrap(), JoinedSeat::Again(_)));
}

#[test]
fn damage_to_a_grant_is_named_and_keeps_nothing_else_from_being_served() {
    let backend = MemoryBackend::new();
    let store = Store::with_backend(Box::new(backend.clone())).unwrap();
    store.create_match(&name("m"), &genesis(), commands(3)).unwrap();
    store.grant(&token(1), new(GrantKind::Seat(Seat::P1)), NOW).unwrap();
    store.grant(&token(2), new(GrantKind::Host), NOW).unwrap();
    store.close().unwrap();
    let id = |key: &[u8]| GrantId::of(&Digest::new(key[key.len() - 32..].try_into().unwrap())).to_string();
    let check = |damaged: MemoryBackend, key: &[u8], what: &str| {
        let store = Store::with_backend(Box::new(damaged)).unwrap();
        let damage = store.check(&mut unobserved()).unwrap().damage;
        let is_named = |found: &turnfold_store::Damage| {
            found.match_name == Some(name("m")) && found.reason.contains(&id(key))
        };
        assert!(damage.iter().any(is_named), "{what}: {damage:?}");
        assert_eq!(store.audit(&name("m")).unwrap().damage, [], "{what}");
        // A damaged grant is neither read as sound nor treated as missing.
        let hash = Digest::new(key[key.len() - 32..].try_into().unwrap());
        let error = store.grants_of(&name("m")).err().or_else(|| store.find_grant(&hash).err());
        let is_unlisted = damage.iter().all(|found| found.reason.contains("is not listed"));
        match error {
            Some(StoreError::Corrupt { .. }) => {}
            None => assert!(is_unlisted, "{what}"),
            Some(other) => panic!("{what}: {other}"),
        }
    };
    let records: Vec<_> =
        backend.records().into_iter().filter(|(key, _)| matches!(key[0], b'a' | b'i')).collect();
    assert_eq!(records.len(), 4);
    for (key, value) in &records {
        let what = key.escape_ascii().to_string();
        let damaged = |value| {
            let damaged = backend.copy();
            damaged.tamper(key, value);
            damaged
        };
        check(damaged(None), key, &format!("{what} is missing"));
        for place in 0..value.len() {
            let mut flipped = value.clone();
            flipped[place] ^= 1 << (place % 8);
            check(damaged(Some(flipped)), key, &format!("{what}, byte {place}"));
            check(damaged(Some(value[..place].to_vec())), key, &format!("{what}, {place} bytes"));
        }
        let (_, other) = records.iter().find(|(other, _)| other[0] == key[0] && other != key).unwrap();
        check(damaged(Some(other.clone())), key, &format!("{what} with another's value"));
    }
}
