//! Damage: whatever is done to the records, the store names the damage and never panics.

use turnfold_store::backend::MemoryBackend;
use turnfold_store::{BranchName, Damage, Genesis, Store, StoreError};

use crate::game::{branch, commands, genesis, name};

/// Returns a match with pages, an idempotency key and a branch.
fn sample() -> MemoryBackend {
    let backend = MemoryBackend::new();
    let store = Store::with_backend(Box::new(backend.clone())).unwrap();
    store.create_match(&name("m"), &genesis(), commands(66)).unwrap();
    let line = branch("line");
    store.create_branch(&name("m"), &line, &BranchName::main(), 65, Vec::new()).unwrap();
    let more = commands(67).split_off(65);
    store.append(&name("m"), &line, 65, more, Some(&"k".parse().unwrap())).unwrap();
    assert_eq!(store.audit(&name("m")).unwrap().damage, []);
    store.close().unwrap();
    backend
}

/// Returns the damage that an audit reports. Panics if the audit reports none.
fn findings(backend: &MemoryBackend, what: &str) -> Vec<Damage> {
    let store = match Store::with_backend(Box::new(backend.copy())) {
        Ok(store) => store,
        Err(error) => {
            let is_named = matches!(error, StoreError::Corrupt { .. });
            assert!(is_named, "{what}: {error}");
            return Vec::new();
        }
    };
    // Every other request may fail, but only with an error that names the damage.
    let others = [
        store.matches().map(|_| ()),
        store.branches(&name("m")).map(|_| ()),
        store.read(&name("m"), &branch("line"), None).map(|_| ()),
        store.append(&name("m"), &branch("line"), 0, commands(1), None).map(|_| ()),
    ];
    for error in others.into_iter().filter_map(Result::err) {
        // Only an audit can distinguish the missing record of a match from a match that never existed.
        let is_named = matches!(
            error,
            StoreError::Corrupt { .. } | StoreError::Conflict { .. } | StoreError::NoSuchMatch { .. }
        );
        assert!(is_named, "{what}: {error}");
    }
    match store.audit(&name("m")) {
        Ok(audit) => {
            assert!(!audit.damage.is_empty(), "{what}: not found");
            audit.damage
        }
        Err(error) => panic!("{what}: {error}"),
    }
}

/// Requires the report of a damaged entry to name its branch and seq.
fn check_place(key: &[u8], findings: &[Damage], what: &str) {
    if key[0] == b'p' {
        let placed = findings.iter().any(|finding| finding.branch.is_some() && finding.seq.is_some());
        assert!(placed, "{what}: {findings:?}");
    }
}

#[test]
fn every_flipped_byte_of_every_record_is_found() {
    let backend = sample();
    for (key, value) in backend.records() {
        for place in 0..value.len() {
            let what = format!("byte {place} of `{}`", key.escape_ascii());
            let damaged = backend.copy();
            let mut flipped = value.clone();
            flipped[place] ^= 1 << (place % 8);
            damaged.tamper(&key, Some(flipped));
            check_place(&key, &findings(&damaged, &what), &what);
        }
    }
}

#[test]
fn every_shortened_and_every_missing_record_is_found() {
    let backend = sample();
    for (key, value) in backend.records() {
        let what = format!("`{}`", key.escape_ascii());
        for length in 0..value.len() {
            let damaged = backend.copy();
            damaged.tamper(&key, Some(value[..length].to_vec()));
            check_place(&key, &findings(&damaged, &what), &what);
        }
        let damaged = backend.copy();
        damaged.tamper(&key, None);
        check_place(&key, &findings(&damaged, &what), &what);
    }
}

#[test]
fn exchanged_and_duplicated_records_are_found() {
    let backend = sample();
    let records = backend.records();
    for (left, right) in records.iter().zip(records.iter().skip(1)) {
        let what = format!("`{}` and `{}`", left.0.escape_ascii(), right.0.escape_ascii());
        let damaged = backend.copy();
        damaged.tamper(&left.0, Some(right.1.clone()));
        findings(&damaged, &what);
        damaged.tamper(&right.0, Some(left.1.clone()));
        findings(&damaged, &what);
    }
}

#[test]
fn an_audit_does_not_take_a_record_under_another_name_for_one_that_never_was() {
    let backend = sample();
    let moved = |ending: &[u8]| {
        let is_meant = |(key, _): &(Vec<u8>, Vec<u8>)| key.ends_with(ending);
        let (key, value) = backend.records().into_iter().find(is_meant).unwrap();
        let mut other = key.clone();
        *other.last_mut().unwrap() ^= 1;
        let damaged = backend.copy();
        damaged.tamper(&key, None);
        damaged.tamper(&other, Some(value));
        Store::with_backend(Box::new(damaged)).unwrap()
    };
    let without_branch = moved(b"line").head(&name("m"), &branch("line")).unwrap_err();
    assert!(matches!(without_branch, StoreError::Corrupt { .. }), "{without_branch}");
    for store in [moved(b"mm"), moved(b"line")] {
        assert_ne!(store.audit(&name("m")).unwrap().damage, []);
        assert_ne!(store.check(&mut |_| ()).unwrap().damage, []);
        assert!(store.matches().and_then(|_| store.branches(&name("m"))).is_err());
    }
}

#[test]
fn records_of_an_older_time_are_found() {
    let backend = MemoryBackend::new();
    let store = Store::with_backend(Box::new(backend.clone())).unwrap();
    store.create_match(&name("m"), &genesis(), commands(10)).unwrap();
    let older = backend.records();
    let more = commands(12).split_off(10);
    store.append(&name("m"), &BranchName::main(), 10, more, None).unwrap();
    store.close().unwrap();
    for (key, value) in older.into_iter().filter(|(key, _)| key[0] == b'h') {
        let damaged = backend.copy();
        damaged.tamper(&key, Some(value));
        match Store::with_backend(Box::new(damaged)) {
            Ok(store) => {
                let found = store.audit(&name("m")).unwrap().damage;
                assert!(found[0].seq.is_some_and(|seq| seq > 10), "{found:?}");
            }
            Err(error) => panic!("{error}"),
        }
    }
}

/// Returns a record that a store accepts, because its check is right, wherever its body comes from.
pub(crate) fn with_check(key: &[u8], value: &[u8]) -> Vec<u8> {
    let body = &value[..value.len() - 8];
    let mut hasher = blake3::Hasher::new_derive_key("turnfold v1 record");
    hasher.update(key).update(body).update(&(key.len() as u64).to_le_bytes());
    [body, &hasher.finalize().as_bytes()[..8]].concat()
}

/// Returns two matches with the same commands and different ids and times.
fn two_matches() -> MemoryBackend {
    let backend = MemoryBackend::new();
    let store = Store::with_backend(Box::new(backend.clone())).unwrap();
    for match_name in ["m", "n"] {
        let match_id = [match_name.as_bytes()[0]; 16];
        let mut entries = commands(67);
        for entry in &mut entries {
            entry.recorded_at_ms += i64::from(match_id[0]);
        }
        store.create_match(&name(match_name), &Genesis { match_id, ..genesis() }, entries).unwrap();
    }
    store.close().unwrap();
    backend
}

#[test]
fn pages_of_two_matches_that_change_places_are_named_in_both() {
    let backend = two_matches();
    let records = backend.records();
    {
        let of_table: Vec<_> = records.iter().filter(|(key, _)| key[0] == b'p').collect();
        let (first, second) = (of_table[0], of_table[of_table.len() / 2]);
        assert_eq!(first.0[9..], second.0[9..], "the same seq of two branches");
        let seq = u64::from_be_bytes(first.0[9..].try_into().unwrap());
        for with_right_checks in [false, true] {
            let swapped = backend.copy();
            for (to, from) in [(first, second), (second, first)] {
                let value = if with_right_checks { with_check(&to.0, &from.1) } else { from.1.clone() };
                swapped.tamper(&to.0, Some(value));
            }
            let store = Store::with_backend(Box::new(swapped)).unwrap();
            for match_name in ["m", "n"] {
                let error = store.read(&name(match_name), &BranchName::main(), None).unwrap_err();
                let StoreError::Corrupt { match_name: found, branch, seq: at, .. } = &error else {
                    panic!("{error}")
                };
                assert_eq!((found, branch), (&Some(name(match_name)), &Some(BranchName::main())));
                assert_eq!(*at, Some(seq), "{error}");
                assert!(!store.audit(&name(match_name)).unwrap().damage.is_empty());
            }
        }
    }
}

#[test]
fn copies_of_records_are_found_behind_the_head_or_as_orphans() {
    let backend = two_matches();
    let store = Store::with_backend(Box::new(backend.copy())).unwrap();
    assert_eq!(orphans(&store), [""; 0]);
    for (key, value) in
        backend.records().into_iter().filter(|(key, _)| matches!(key[0], b'b' | b'h' | b'k' | b'p'))
    {
        // As a record of a branch or match that does not exist.
        let mut other = key.clone();
        other[1] = 9;
        let copied = backend.copy();
        copied.tamper(&other, Some(with_check(&other, &value)));
        let store = Store::with_backend(Box::new(copied)).unwrap();
        let place =
            format!("1 record belongs to nothing, the first is `{}`: there is no ", other.escape_ascii());
        assert!(matches!(&orphans(&store)[..], [one] if one.starts_with(&place)), "{:?}", orphans(&store));
        assert_eq!(store.audit(&name("m")).unwrap().damage, []);
    }
    for (key, value) in backend.records().into_iter().filter(|(key, _)| key[0] == b'p') {
        // As an entry after the last.
        let behind = [&key[..9], &500_u64.to_be_bytes()].concat();
        let copied = backend.copy();
        copied.tamper(&behind, Some(with_check(&behind, &value)));
        let store = Store::with_backend(Box::new(copied)).unwrap();
        let findings = ["m", "n"].map(|match_name| store.audit(&name(match_name)).unwrap().damage);
        let finding = findings.iter().flatten().next().unwrap();
        assert!(finding.reason.contains("behind the head, which is 67"), "{finding:?}");
    }
    let foreign = backend.copy();
    foreign.tamper(b"zoo", Some(b"anything".to_vec()));
    let store = Store::with_backend(Box::new(foreign)).unwrap();
    let expected = "1 record belongs to nothing, the first is `zoo`: there is no such table";
    assert_eq!(orphans(&store), [expected]);
}

fn orphans(store: &Store) -> Vec<String> {
    let findings = store.check(&mut |_| ()).unwrap().damage.into_iter();
    findings.filter(|found| found.match_name.is_none()).map(|found| found.reason).collect()
}
