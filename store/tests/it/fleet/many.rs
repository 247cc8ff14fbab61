//! FL-27: many writers on few branches, each of which does not know of the others.

use std::collections::{BTreeMap, BTreeSet};
use std::thread;

use turnfold_store::{BranchName, FleetAddress, IdempotencyKey, MatchName, Store, StoreError};

use crate::chance::Chance;
use crate::game::{genesis, name, opaque};
use crate::postgres::shared;
use crate::rescue::unobserved;

/// What one writer was told: the labels appended, by the branch; a branch that is made again under its name has another
/// generation.
type Told = Vec<(MatchName, BranchName, u64)>;

fn names(number: u64) -> (MatchName, BranchName) {
    let branch = if number.is_multiple_of(4) {
        BranchName::main()
    } else {
        format!("b{}", number % 4).parse().unwrap()
    };
    (name(&format!("m{}", number / 4)), branch)
}

/// Appends to branches at random, repeating some appends, and returns which labels were acknowledged where.
fn write(address: &FleetAddress, writer: u64, operations: u64, branches: u64) -> Told {
    let store = Store::open_fleet(address).unwrap();
    let mut chance = Chance::new(writer + 1);
    let mut below = |count: u64| chance.below(usize::try_from(count).unwrap()) as u64;
    let mut told = Vec::new();
    for operation in 0..operations {
        let (m, branch) = names(below(branches));
        let label = writer << 32 | operation;
        let key: Option<IdempotencyKey> =
            operation.is_multiple_of(2).then(|| format!("k{label}").parse().unwrap());
        let count = if below(500) == 0 { 5000 } else { 1 + below(3) };
        let entries = || (0..count).map(|_| opaque(label)).collect::<Vec<_>>();
        loop {
            let head = match store.head(&m, &branch) {
                Ok(head) => head,
                Err(error) => panic!("{error}"),
            };
            match store.append(&m, &branch, head, entries(), key.as_ref()) {
                Ok(appended) => {
                    assert_eq!((appended.last - appended.first + 1, appended.repeated), (count, false));
                    if key.is_some() && below(4) == 0 {
                        let again = store.append(&m, &branch, below(9), entries(), key.as_ref()).unwrap();
                        assert_eq!(
                            (again.first, again.last, again.repeated),
                            (appended.first, appended.last, true)
                        );
                    }
                    break told.push((m, branch, label));
                }
                Err(StoreError::Conflict { .. }) => {}
                Err(error) => panic!("{error}"),
            }
        }
    }
    told
}

#[test]
#[expect(clippy::print_stderr, reason = "the figures of the long form")]
fn fl_27_what_many_writers_were_told_is_there_once_and_nothing_else() {
    let Some(server) = shared() else { return };
    let full = std::env::var_os("TURNFOLD_FLEET_FULL").is_some();
    let (writers, operations, branches) = if full { (8, 25_000, 20) } else { (4, 60, 8) };
    let address = server.address();
    let store = Store::open_or_create_fleet(&address).unwrap();
    for number in 0..branches {
        let (m, branch) = names(number);
        if branch.is_main() {
            store.create_match(&m, &genesis(), Vec::new()).unwrap();
        } else {
            store.create_branch(&m, &branch, &BranchName::main(), 0).unwrap();
        }
    }
    let told: Vec<Told> = thread::scope(|scope| {
        let address = &address;
        let threads: Vec<_> = (0..writers)
            .map(|writer| scope.spawn(move || write(address, writer, operations, branches)))
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let mut expected: BTreeMap<_, BTreeSet<u64>> = BTreeMap::new();
    for (m, branch, label) in told.into_iter().flatten() {
        assert!(expected.entry((m, branch)).or_default().insert(label));
    }
    let mut entries = 0;
    for number in 0..branches {
        let (m, branch) = names(number);
        let log = store.read(&m, &branch, None).unwrap();
        entries += log.entries.len();
        let mut labels: Vec<_> = log
            .entries
            .iter()
            .map(|entry| u64::from_le_bytes(entry.command.clone().try_into().unwrap()))
            .collect();
        // The entries of one append lie together, so each label is there once.
        labels.dedup();
        let found: BTreeSet<_> = labels.iter().copied().collect();
        assert_eq!(found.len(), labels.len());
        assert_eq!(found, expected.remove(&(m, branch)).unwrap_or_default());
    }
    assert_eq!(store.check(&mut unobserved()).unwrap().damage, []);
    eprintln!("{} appends of {entries} entries by {writers} writers", writers * operations);
}
