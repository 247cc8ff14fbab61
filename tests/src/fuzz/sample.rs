//! Small stores in memory with everything in them.

use turnfold_core::{DicePolicy, Seat};
use turnfold_store::backend::MemoryBackend;
use turnfold_store::{BranchName, Genesis, MatchName, NewEntry, Store, StoreError};

/// Creates a store with two matches. `m` has a page, tails, an idempotency key and a branch; `n` has a few tails.
pub(super) fn backend() -> Result<MemoryBackend, StoreError> {
    let backend = MemoryBackend::new();
    let store = Store::with_backend(Box::new(backend.clone()))?;
    store.create_match(&name("m"), &genesis(), entries(1, 66))?;
    store.create_branch(&name("m"), &line(), &BranchName::main(), 65, Vec::new())?;
    store.append(&name("m"), &line(), 65, entries(66, 67), Some(&"k".parse().unwrap()))?;
    store.create_match(&name("n"), &genesis(), entries(1, 3))?;
    store.close()?;
    Ok(backend)
}

/// Creates a store with one match, `n`, of `count` entries.
pub(super) fn small_backend(count: u8) -> Result<MemoryBackend, StoreError> {
    let backend = MemoryBackend::new();
    let store = Store::with_backend(Box::new(backend.clone()))?;
    store.create_match(&name("n"), &genesis(), entries(1, count))?;
    store.close()?;
    Ok(backend)
}

pub(super) fn name(text: &str) -> MatchName {
    text.parse().unwrap()
}

pub(super) fn line() -> BranchName {
    "line".parse().unwrap()
}

pub(super) fn genesis() -> Genesis {
    let rules = turnfold_games::find("initiative").unwrap();
    let unit = |id: &str, owner: &str, r: i8| {
        format!("[[units]]\nid = \"{id}\"\nowner = \"{owner}\"\nat = [0, {r}]\n")
    };
    let setup = format!("radius = 2\n{}{}", unit("a", "p1", 2), unit("b", "p2", -2));
    Genesis {
        format: Genesis::FORMAT,
        ruleset: rules.name().to_owned(),
        ruleset_version: rules.version(),
        setup: rules.read_setup(&setup).unwrap(),
        dice: DicePolicy::Recorded,
        match_id: [7; 16],
        title: "One against one".to_owned(),
        created_at_ms: 1_700_000_000_000,
        module: None,
        played_by: None,
        origins: Vec::new(),
    }
}

/// Returns the entries `first` to `last` of a match: a roll that p1 loses, then its cursor going in circles.
pub(super) fn entries(first: u8, last: u8) -> Vec<NewEntry> {
    let entry = |seq| match seq {
        1 => NewEntry { seat: Seat::Host, command: vec![0, 4, 2, 2, 12, 12], recorded_at_ms: 0 },
        _ => NewEntry { seat: Seat::P1, command: vec![1], recorded_at_ms: i64::from(seq) },
    };
    (first..=last).map(entry).collect()
}
