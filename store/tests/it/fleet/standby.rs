//! FL-28: a standby that takes over.

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use turnfold_store::{BranchName, FleetAddress, Store, StoreError};

use crate::game::{genesis, labels, name, opaque};
use crate::postgres::Server;

/// Returns the address of a store on whichever of two servers accepts writes.
fn of_both(first: &Server, second: &Server) -> FleetAddress {
    let [first, second] = [first, second].map(|server| server.dir.display().to_string().replace('/', "%2F"));
    FleetAddress::read(&format!("postgres://tests@{first},{second}/postgres?schema=s"), None).unwrap()
}

#[test]
fn fl_28_a_synchronous_standby_loses_nothing_and_what_another_lacks_is_named_lost() {
    for is_synchronous in [true, false] {
        let Some(primary) = Server::start("") else { return };
        let Some(standby) = primary.standby() else { return };
        if is_synchronous {
            primary.sql("ALTER SYSTEM SET synchronous_standby_names = '*'");
            primary.sql("SELECT pg_reload_conf()");
        }
        let store = Store::open_or_create_fleet(&of_both(&primary, &standby)).unwrap();
        let (m, main) = (name("m"), BranchName::main());
        store.create_match(&m, &genesis(), Vec::new()).unwrap();
        for head in 0..5 {
            store.append(&m, &main, head, vec![opaque(head)], None).unwrap();
        }
        if !is_synchronous {
            standby.wait_for("SELECT count(*) = 5 FROM s.run");
            standby.kill();
            for head in 5..8 {
                store.append(&m, &main, head, vec![opaque(head)], None).unwrap();
            }
        }
        primary.kill();
        if !is_synchronous {
            standby.begin();
        }
        standby.promote();
        if is_synchronous {
            store.append(&m, &main, 5, vec![opaque(5)], None).unwrap();
            assert_eq!(labels(&store, "m", "main"), [0, 1, 2, 3, 4, 5]);
        } else {
            let error = store.append(&m, &main, 8, vec![opaque(8)], None).unwrap_err();
            assert!(matches!(error, StoreError::Receded { held: 8, found: 5, .. }), "{error}");
            let again = Store::open_fleet(&of_both(&primary, &standby)).unwrap();
            assert_eq!(labels(&again, "m", "main"), [0, 1, 2, 3, 4]);
        }
    }
}

/// The number of clients in the test under load, and the number of entries that each appends.
const CLIENTS: usize = 4;
const ENTRIES: u64 = 120;

/// How often a client repeats an append that got no answer, with a pause in between.
const TRIES: usize = 1200;
const PAUSE: Duration = Duration::from_millis(50);

/// Appends entries one after another, repeating each with its key until it is acknowledged.
fn append_all(store: &Store, match_name: &str, acknowledged: &AtomicU64) {
    let (m, main) = (name(match_name), BranchName::main());
    for head in 0..ENTRIES {
        let key = format!("k{head}").parse().unwrap();
        let append = || store.append(&m, &main, head, vec![opaque(head)], Some(&key));
        let is_done = (0..TRIES).any(|_| {
            append().is_ok() || {
                thread::sleep(PAUSE);
                false
            }
        });
        assert!(is_done, "{match_name}: entry {head}: {:?}", append());
        acknowledged.store(head + 1, Ordering::SeqCst);
    }
}

/// Clients append through two stores, as two services would, while the primary dies and the standby takes over.
#[test]
fn fl_28_a_synchronous_standby_takes_over_under_load_and_has_everything_acknowledged() {
    let Some(primary) = Server::start("") else { return };
    let Some(standby) = primary.standby() else { return };
    primary.sql("ALTER SYSTEM SET synchronous_standby_names = '*'");
    primary.sql("SELECT pg_reload_conf()");
    let open = || Store::open_or_create_fleet(&of_both(&primary, &standby)).unwrap();
    let stores = [open(), open()];
    let names: Vec<String> = (0..CLIENTS).map(|client| format!("m{client}")).collect();
    for match_name in &names {
        stores[0].create_match(&name(match_name), &genesis(), Vec::new()).unwrap();
    }
    let acknowledged: Vec<AtomicU64> = names.iter().map(|_| AtomicU64::new(0)).collect();
    let heads = || acknowledged.iter().map(|head| head.load(Ordering::SeqCst));
    thread::scope(|scope| {
        for ((match_name, head), store) in names.iter().zip(&acknowledged).zip(stores.iter().cycle()) {
            scope.spawn(move || append_all(store, match_name, head));
        }
        while heads().any(|head| head < ENTRIES / 4) {
            thread::sleep(Duration::from_millis(1));
        }
        primary.kill();
        let before: Vec<u64> = heads().collect();
        standby.promote();
        let found = Store::open_fleet(&of_both(&primary, &standby)).unwrap();
        for (match_name, acknowledged) in names.iter().zip(before) {
            let found = labels(&found, match_name, "main").len() as u64;
            assert!(found >= acknowledged, "{match_name}: {found} of {acknowledged} acknowledged entries");
        }
    });
    let all: Vec<u64> = (0..ENTRIES).collect();
    for match_name in &names {
        assert_eq!(labels(&open(), match_name, "main"), all, "nothing is lost, and nothing twice");
    }
}
