//! The store's own audit and its statistics.

use turnfold_store::backend::MemoryBackend;
use turnfold_store::{Store, StoreError, Totals};

use super::{fill, sample, unobserved};

/// Returns what the audit of a damaged store reports, with the place of each damage.
fn findings(backend: MemoryBackend) -> Vec<String> {
    let store = match Store::with_backend(Box::new(backend)) {
        Ok(store) => store,
        Err(error) => {
            assert!(matches!(error, StoreError::Corrupt { .. }), "{error}");
            return vec![error.to_string()];
        }
    };
    let found = store.check(&mut unobserved()).unwrap().damage.into_iter().map(|found| {
        let place = [
            found.match_name.map(|name| name.to_string()),
            found.branch.map(|name| name.to_string()),
            found.seq.map(|seq| seq.to_string()),
        ];
        format!("{}: {}", place.into_iter().flatten().collect::<Vec<_>>().join(" "), found.reason)
    });
    found.collect()
}

#[test]
fn every_missing_and_every_changed_record_is_found() {
    let backend = sample();
    assert_eq!(findings(backend.copy()), [""; 0]);
    for (key, value) in backend.records() {
        let what = key.escape_ascii().to_string();
        let damaged = backend.copy();
        damaged.tamper(&key, None);
        // Without the store's own record there is no store, so the new one is empty and sound.
        assert!(!findings(damaged).is_empty() || key == b"s", "{what} is missing");
        for place in 0..value.len() {
            let damaged = backend.copy();
            let mut flipped = value.clone();
            flipped[place] ^= 0x20;
            damaged.tamper(&key, Some(flipped));
            assert!(!findings(damaged).is_empty(), "{what}, byte {place}");
        }
    }
}

#[test]
fn records_that_belong_to_nothing_are_found() {
    let check = |key: &[u8], expected: &str| {
        let damaged = sample();
        let value = damaged.records().into_iter().find(|(other, _)| other[0] == key[0]);
        damaged.tamper(key, Some(value.map_or_else(Vec::new, |(_, value)| value)));
        let found = findings(damaged);
        assert!(found.iter().any(|found| found.contains(expected)), "{expected}: {found:?}");
    };
    // Branch 7 was deleted.
    let of_branch = |table: u8| [&[table], &7_u64.to_be_bytes()[..], &1_u64.to_be_bytes()].concat();
    check(&of_branch(b'p'), "there is no branch with the id 7");
    check(&of_branch(b'k'), "there is no branch with the id 7");
    check(&of_branch(b'h')[..9], "there is no branch with the id 7");
    let of_match = [&b"b"[..], &7_u64.to_be_bytes(), b"line"].concat();
    check(&of_match, "there is no match with the id 7");
    let of_grant = [&b"i"[..], &7_u64.to_be_bytes(), &[1; 32]].concat();
    check(&of_grant, "there is no match with the id 7");
    check(b"px", ": it names no branch");
    check(b"a!", ": it names no grant");
    check(b"zoo", "the first is `zoo`: there is no such table");
    check(b"m!", ": a match record has no proper name");
}

#[test]
fn statistics_count_what_is_there() {
    let store = Store::in_memory();
    fill(&store);
    let stats = store.stats(1, &mut unobserved()).unwrap();
    assert_eq!(stats.totals, Totals { matches: 2, branches: 5, entries: 71 });
    assert_eq!((stats.entries_on_pages, stats.tails), (71, 0));
    assert_eq!(stats.largest.len(), 1);
    assert_eq!((stats.largest[0].name.as_str(), stats.largest[0].entries), ("m", 71));
    assert_eq!(stats.entry_bytes, stats.largest[0].entry_bytes);
    assert_eq!(store.stats(9, &mut unobserved()).unwrap().largest.len(), 2);
}
