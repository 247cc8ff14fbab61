//! FL-33: the next entry of a branch is reserved for one process, and other processes wait.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::thread;
use std::time::Duration;

use turnfold_store::{BranchHead, BranchName, FleetAddress, NamedBranch, Reservation, Store, StoreError};

use super::{connect, sql, with_match};
use crate::child::spawn;
use crate::game::{branch, labels, name, opaque};
use crate::postgres::{Server, shared};
use crate::rescue::unobserved;

/// Reserves the next entry of a branch of the match `m`.
fn reserve(store: &Store, of: &BranchName) -> Option<Reservation> {
    let BranchHead { id, .. } = store.branch_head(&name("m"), of).unwrap();
    store.reserve(&NamedBranch { match_name: name("m"), branch: of.clone(), id })
}

/// Reserves an entry of `main`, reports that, and hangs until the process is killed.
pub(crate) fn stand_still(url: &Path) {
    let store = Store::open_fleet(&FleetAddress::read(&url.display().to_string(), None).unwrap()).unwrap();
    let reserved = reserve(&store, &BranchName::main());
    let mut out = std::io::stdout();
    writeln!(out, "reserved {}", reserved.is_some()).unwrap();
    out.flush().unwrap();
    rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::STOP).unwrap();
    drop(reserved);
}

#[test]
fn fl_33_who_reserved_the_next_entry_appends_it_and_the_others_wait() {
    // A server of its own, because this test reads the server's locks.
    let Some(server) = Server::start("") else { return };
    let (address, here) = with_match(&server);
    let there = Store::open_fleet(&address).unwrap();
    let (m, main) = (name("m"), BranchName::main());
    let mut locks = connect(&server);
    let mut expected = Vec::new();
    // If the machine stalls for half a second, a reservation ends before it is used.
    let is_first = (0..20).any(|round| {
        let head = expected.len() as u64;
        let reserved = reserve(&here, &main);
        assert!(reserved.is_some());
        let is_first = thread::scope(|scope| {
            let (there, m, main) = (&there, &m, &main);
            let other = scope.spawn(move || there.append(m, main, head, vec![opaque(100 + round)], None));
            while !other.is_finished() {
                let waiting = "SELECT FROM pg_locks WHERE NOT granted AND locktype = 'transactionid'";
                if !locks.query(waiting, &[]).unwrap().is_empty() {
                    break;
                }
            }
            let done = here.append(m, main, head, vec![opaque(round)], None);
            let other = other.join().unwrap();
            match done {
                Ok(_) => assert!(matches!(other, Err(StoreError::Conflict { .. })), "{other:?}"),
                Err(StoreError::Conflict { .. }) => drop(other.unwrap()),
                Err(error) => panic!("{error}"),
            }
            done.is_ok()
        });
        expected.push(if is_first { round } else { 100 + round });
        is_first
    });
    assert!(is_first);
    assert_eq!(labels(&there, "m", "main"), expected);
    assert_eq!(there.check(&mut unobserved()).unwrap().damage, []);
}

#[test]
fn fl_33_what_was_reserved_and_not_used_is_free_again() {
    let Some(server) = shared() else { return };
    let (address, here) = with_match(server);
    let there = Store::open_fleet(&address).unwrap();
    let (m, main) = (name("m"), BranchName::main());
    let append = |store: &Store, head| store.append(&m, &main, head, vec![opaque(head)], None);
    // Given up.
    drop(reserve(&here, &main));
    append(&there, 0).unwrap();
    // Not used: the other store waits until it ends.
    let reserved = reserve(&here, &main);
    append(&there, 1).unwrap();
    assert!(matches!(append(&here, 1), Err(StoreError::Conflict { head: 2, .. })));
    append(&here, 2).unwrap();
    drop(reserved);
    // Used for an entry other than the next.
    let reserved = reserve(&here, &main);
    assert!(matches!(append(&here, 1), Err(StoreError::Conflict { head: 3, .. })));
    append(&there, 3).unwrap();
    drop(reserved);
    // Reserved again before it ended.
    let reserved = (reserve(&here, &main), reserve(&here, &main));
    append(&here, 4).unwrap();
    drop(reserved);
    append(&there, 5).unwrap();
    assert_eq!(labels(&here, "m", "main"), [0, 1, 2, 3, 4, 5]);
    assert_eq!(there.check(&mut unobserved()).unwrap().damage, []);
}

/// An append with a reservation is checked like any other: keys, names, and runs of any length.
#[test]
fn fl_33_an_append_by_a_reservation_is_an_append() {
    let Some(server) = shared() else { return };
    let (address, here) = with_match(server);
    let there = Store::open_fleet(&address).unwrap();
    let (m, main, line) = (name("m"), BranchName::main(), branch("line"));
    let [k, l] = ["k", "l"].map(|key| key.parse().unwrap());
    let one = |label| vec![opaque(label)];
    let reserved = reserve(&here, &main);
    assert_eq!(here.append(&m, &main, 0, one(1), Some(&k)).unwrap().last, 1);
    drop(reserved);
    assert!(there.append(&m, &main, 1, one(1), Some(&k)).unwrap().repeated);
    let reserved = reserve(&here, &main);
    assert!(here.append(&m, &main, 1, one(1), Some(&k)).unwrap().repeated);
    drop(reserved);
    let reserved = reserve(&here, &main);
    let reused = here.append(&m, &main, 1, one(7), Some(&k));
    assert!(matches!(reused, Err(StoreError::IdempotencyKeyReused { .. })), "{reused:?}");
    drop(reserved);
    let reserved = reserve(&here, &main);
    let many = (0..5000).map(opaque).collect::<Vec<_>>();
    assert_eq!(here.append(&m, &main, 1, many, Some(&l)).unwrap().last, 5001);
    drop(reserved);
    assert_eq!(there.find_idempotency_key(&m, &main, &l).unwrap(), Some(2..=5001));
    // A branch that has been renamed or deleted since.
    there.create_branch(&m, &line, &main, 1, Vec::new()).unwrap();
    for is_deleted in [false, true] {
        let reserved = reserve(&here, &line);
        assert!(reserved.is_some());
        if is_deleted {
            there.delete_branch(&m, &line).unwrap();
        } else {
            there.rename_branch(&m, &line, &branch("other")).unwrap();
        }
        let gone = here.append(&m, &line, 1, one(8), None);
        assert!(matches!(gone, Err(StoreError::NoSuchBranch { .. })), "{gone:?}");
        drop(reserved);
        if !is_deleted {
            there.rename_branch(&m, &branch("other"), &line).unwrap();
        }
    }
    let BranchHead { id, .. } = there.branch_head(&m, &main).unwrap();
    sql(server, &address, "DELETE FROM @run; DELETE FROM @branch");
    assert!(here.reserve(&NamedBranch { match_name: m, branch: main, id }).is_none());
}

#[test]
fn fl_33_a_database_that_goes_back_is_found_by_a_reservation_too() {
    let Some(server) = shared() else { return };
    let (address, here) = with_match(server);
    let (m, main) = (name("m"), BranchName::main());
    for head in 0..3 {
        here.append(&m, &main, head, vec![opaque(head)], None).unwrap();
    }
    let BranchHead { id, .. } = here.branch_head(&m, &main).unwrap();
    sql(server, &address, "UPDATE @run SET link = before WHERE first = 3");
    let named = NamedBranch { match_name: m.clone(), branch: main.clone(), id };
    let reserved = here.reserve(&named);
    let error = here.append(&m, &main, 3, vec![opaque(3)], None).unwrap_err();
    assert!(matches!(error, StoreError::Receded { held: 3, found: 3, .. }), "{error}");
    drop(reserved);
}

/// A process that hangs delays the others for a second, and a server that dies for as long as it is down.
#[test]
fn fl_33_who_reserved_an_entry_and_stands_still_loses_it() {
    // A server of its own, because other tests use the shared one.
    let Some(server) = Server::start("") else { return };
    let (address, here) = with_match(&server);
    let (m, main) = (name("m"), BranchName::main());
    let url = server.url(address.to_string().rsplit_once('=').unwrap().1);
    let mut still = spawn("reserve", Path::new(&url));
    let mut lines = BufReader::new(still.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().ends_with("reserved true")));
    here.append(&m, &main, 0, vec![opaque(0)], None).unwrap();
    still.kill().unwrap();
    still.wait().unwrap();
    let reserved = reserve(&here, &main);
    server.kill();
    server.begin();
    here.append(&m, &main, 1, vec![opaque(1)], None).unwrap();
    drop(reserved);
    assert_eq!(labels(&here, "m", "main"), [0, 1]);
    assert_eq!(here.check(&mut unobserved()).unwrap().damage, []);
}

/// Several stores append to one branch without a pause, with a reservation after each conflict. All of them make
/// progress.
#[test]
fn fl_33_stores_that_reserve_after_a_conflict_share_a_branch() {
    let Some(server) = shared() else { return };
    let (address, store) = with_match(server);
    let (m, main) = (name("m"), BranchName::main());
    let append_all = |writer: u64| {
        let store = Store::open_fleet(&address).unwrap();
        let mut conflicts = 0;
        for count in 0..40 {
            let mut reserved = None;
            let mut head = store.head(&m, &main).unwrap();
            loop {
                // Judging takes a while.
                thread::sleep(Duration::from_millis(1));
                match store.append(&m, &main, head, vec![opaque(writer << 32 | count)], None) {
                    Ok(_) => break,
                    Err(StoreError::Conflict { .. }) => conflicts += 1,
                    Err(error) => panic!("{error}"),
                }
                drop(reserved.take());
                reserved = reserve(&store, &main);
                head = store.head(&m, &main).unwrap();
            }
        }
        conflicts
    };
    let conflicts: u64 = thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|writer| scope.spawn(move || append_all(writer))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    let mut found = labels(&store, "m", "main");
    found.sort_unstable();
    let wanted: Vec<_> = (0..4).flat_map(|writer| (0..40).map(move |count| writer << 32 | count)).collect();
    assert_eq!(found, wanted);
    assert!(conflicts > 0);
    assert_eq!(store.check(&mut unobserved()).unwrap().damage, []);
}
