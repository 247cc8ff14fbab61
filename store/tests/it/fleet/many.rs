//! FL-27, FL-11, FL-12: many processes append to a few branches, delete and recreate them, and know nothing of each
//! other.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Child;
use std::sync::mpsc;
use std::thread;

use turnfold_store::{
    Appended, BranchHead, BranchName, FleetAddress, IdempotencyKey, MatchName, NamedBranch, NewEntry, Store,
    StoreError,
};

use crate::chance::Chance;
use crate::child::{Report, spawn};
use crate::game::{genesis, name, opaque};
use crate::postgres::shared;
use crate::rescue::unobserved;

fn names(number: u64) -> (MatchName, BranchName) {
    let branch = if number.is_multiple_of(4) {
        BranchName::main()
    } else {
        format!("b{}", number % 4).parse().unwrap()
    };
    (name(&format!("m{}", number / 4)), branch)
}

/// Appends to the branch that was found, even if another branch has its name by now.
fn append(
    store: &Store,
    (match_name, branch): (&MatchName, &BranchName),
    expected: BranchHead,
    entries: Vec<NewEntry>,
    key: Option<&IdempotencyKey>,
) -> Result<Appended, StoreError> {
    let (sender, answer) = mpsc::channel();
    let then = move |appended| sender.send(appended).unwrap();
    store.append_then(match_name, branch, expected, entries, key, then)?;
    answer.recv().unwrap()
}

/// The number of threads in a process. They share a writer, so that some of their appends share a statement (FL-13).
const THREADS: u64 = 4;

/// Does the task of a process, given as `WRITER OPERATIONS BRANCHES`. It appends to random branches, repeats some
/// appends elsewhere and recreates some branches. It reports which labels were acknowledged in which branch, by the
/// branch's id.
pub(crate) fn write(url: &Path, numbers: &str, report: Report<'_>) {
    let numbers: Vec<u64> = numbers.split(' ').map(|number| number.parse().unwrap()).collect();
    let [writer, operations, branches] = numbers[..] else { panic!("{numbers:?}") };
    let open = || {
        let address = FleetAddress::read(&format!("{}&connections=1%2B8", url.display()), None).unwrap();
        Store::open_fleet(&address).unwrap()
    };
    let stores = (open(), open());
    thread::scope(|scope| {
        for number in writer * THREADS..(writer + 1) * THREADS {
            let stores = (&stores.0, &stores.1);
            scope.spawn(move || write_one(stores, (number, operations / THREADS, branches), report));
        }
    });
}

fn write_one(
    (store, elsewhere): (&Store, &Store),
    (writer, operations, branches): (u64, u64, u64),
    report: Report<'_>,
) {
    let mut chance = Chance::new(writer + 1);
    let mut below = |count: u64| chance.below(usize::try_from(count).unwrap()) as u64;
    for operation in 0..operations {
        let (m, branch) = names(below(branches));
        if !branch.is_main() && below(30) == 0 {
            // Another writer may be doing the same.
            match store.delete_branch(&m, &branch) {
                Ok(()) | Err(StoreError::NoSuchBranch { .. }) => {}
                Err(error) => panic!("{error}"),
            }
            match store.create_branch(&m, &branch, &BranchName::main(), 0, Vec::new()) {
                Ok(()) | Err(StoreError::BranchExists { .. }) => {}
                Err(error) => panic!("{error}"),
            }
        }
        let label = writer << 32 | operation;
        let key: Option<IdempotencyKey> =
            operation.is_multiple_of(2).then(|| format!("k{label}").parse().unwrap());
        let count = if below(500) == 0 { 5000 } else { 1 + below(3) };
        let entries = || (0..count).map(|_| opaque(label)).collect::<Vec<_>>();
        let mut reserved = None;
        loop {
            let head = match store.branch_head(&m, &branch) {
                Ok(head) => head,
                // Another writer is recreating the branch.
                Err(StoreError::NoSuchBranch { .. }) => continue,
                Err(error) => panic!("{error}"),
            };
            match append(store, (&m, &branch), head, entries(), key.as_ref()) {
                Ok(appended) => {
                    assert_eq!((appended.last - appended.first + 1, appended.repeated), (count, false));
                    if key.is_some() && below(4) == 0 {
                        match append(elsewhere, (&m, &branch), head, entries(), key.as_ref()) {
                            Ok(again) => assert_eq!(again, Appended { repeated: true, ..appended }),
                            Err(StoreError::NoSuchBranch { .. }) => {}
                            Err(error) => panic!("{error}"),
                        }
                    }
                    break report(format!("knows {label} {:?}", head.id));
                }
                Err(StoreError::Conflict { .. }) => {
                    drop(reserved.take());
                    // FL-33
                    if below(2) == 0 {
                        let (match_name, branch) = (m.clone(), branch.clone());
                        reserved = store.reserve(&NamedBranch { match_name, branch, id: head.id });
                    }
                }
                Err(StoreError::NoSuchBranch { .. }) => {}
                Err(error) => panic!("{error}"),
            }
        }
    }
}

#[test]
#[expect(clippy::print_stderr, reason = "the figures of the long form")]
fn fl_27_what_was_acknowledged_to_many_processes_is_there_once_and_nothing_else() {
    let Some(server) = shared() else { return };
    let full = std::env::var_os("TURNFOLD_FLEET_FULL").is_some();
    let (writers, operations, branches) = if full { (8, 25_000, 20) } else { (3, 60, 8) };
    let url = server.url("many");
    let store = Store::open_or_create_fleet(&FleetAddress::read(&url, None).unwrap()).unwrap();
    for number in 0..branches {
        let (m, branch) = names(number);
        if branch.is_main() {
            store.create_match(&m, &genesis(), Vec::new()).unwrap();
        } else {
            store.create_branch(&m, &branch, &BranchName::main(), 0, Vec::new()).unwrap();
        }
    }
    let begin = |writer| spawn(&format!("write {writer} {operations} {branches}"), Path::new(&url));
    let processes: Vec<Child> = (0..writers).map(begin).collect();
    let mut expected: BTreeMap<String, BTreeSet<u64>> = BTreeMap::new();
    for process in processes {
        let output = process.wait_with_output().unwrap();
        let stdout = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "{stdout}{}", String::from_utf8_lossy(&output.stderr));
        for line in stdout.lines().filter_map(|line| line.strip_prefix("knows ")) {
            let (label, id) = line.split_once(' ').unwrap();
            assert!(expected.entry(id.to_owned()).or_default().insert(label.parse().unwrap()));
        }
    }
    assert_eq!(expected.values().map(|labels| labels.len() as u64).sum::<u64>(), writers * operations);
    let (mut entries, generations) = (0, expected.len());
    for number in 0..branches {
        let (m, branch) = names(number);
        let log = store.read(&m, &branch, None).unwrap();
        entries += log.entries.len();
        let mut labels: Vec<_> = log
            .entries
            .iter()
            .map(|entry| u64::from_le_bytes(entry.command.clone().try_into().unwrap()))
            .collect();
        // The entries of one append are next to each other, so each label is left once.
        labels.dedup();
        let found: BTreeSet<_> = labels.iter().copied().collect();
        assert_eq!(found.len(), labels.len());
        let id = format!("{:?}", store.branch_head(&m, &branch).unwrap().id);
        assert_eq!(found, expected.remove(&id).unwrap_or_default());
    }
    // An append that overlapped a deletion may leave runs of no branch.
    for found in store.check(&mut unobserved()).unwrap().damage {
        assert!(found.reason.contains("runs belong to no branch"), "{found:?}");
    }
    eprintln!(
        "{} appends by {writers} processes to {generations} branches; {branches} are left, with {entries} entries",
        writers * operations
    );
}
