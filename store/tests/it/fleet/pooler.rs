//! A pooler in front of the server: pgbouncer in session mode, otherwise as it comes (FL-30).

use std::fs;
use std::io::Write as _;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use turnfold_store::{BranchName, FleetAddress, Store};

use crate::game::{genesis, labels, name, opaque};
use crate::pooler::Pooler;
use crate::postgres::Server;

#[test]
fn fl_30_a_store_is_used_through_pgbouncer_in_session_mode() {
    // Its log is read, so it is no other test's.
    let Some(server) = Server::start("") else { return };
    let Some(pooler) = Pooler::start(&server) else { return };
    let address = FleetAddress::read(&pooler.url("pooled"), None).unwrap();
    assert!(address.to_string().contains(":6432/"), "{address}");
    let (m, main) = (name("m"), BranchName::main());
    let store = Store::open_or_create_fleet(&address).unwrap();
    store.create_match(&m, &genesis(), Vec::new()).unwrap();
    store.append(&m, &main, 0, vec![opaque(1)], None).unwrap();
    // FL-21: a statement that waits for a lock is ended, and sent again.
    let ended = || {
        let log = fs::read_to_string(server.dir.join("log")).unwrap();
        log.matches("canceling statement due to statement timeout").count()
    };
    assert_eq!(ended(), 0);
    let mut other = server.psql().stdin(Stdio::piped()).spawn().unwrap();
    let mut input = other.stdin.take().unwrap();
    writeln!(input, "BEGIN; LOCK TABLE pooled.run IN ACCESS EXCLUSIVE MODE;").unwrap();
    server.wait_for("SELECT count(*) > 0 FROM pg_locks WHERE mode = 'AccessExclusiveLock' AND granted");
    thread::scope(|scope| {
        let append = scope.spawn(|| store.append(&m, &main, 1, vec![opaque(2)], None));
        for _ in 0..400 {
            if ended() > 0 {
                break;
            }
            thread::sleep(Duration::from_millis(50));
        }
        assert!(ended() > 0, "no statement was ended");
        writeln!(input, "COMMIT;").unwrap();
        append.join().unwrap().unwrap();
    });
    drop(input);
    other.wait().unwrap();
    assert_eq!(labels(&store, "m", "main"), [1, 2]);
    assert_eq!(labels(&Store::open_fleet(&server.schema("pooled")).unwrap(), "m", "main"), [1, 2]);
}
