//! A pooler in front of the server: pgbouncer in session mode with its default settings (FL-30).

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use turnfold_store::{BranchName, FleetAddress, Store, StoreError};

use crate::game::{genesis, labels, name, opaque};
use crate::pooler::Pooler;
use crate::postgres::Server;

#[test]
fn fl_30_a_store_is_used_through_pgbouncer_in_session_mode() {
    // A server of its own, because this test reads the server's log.
    let Some(server) = Server::start("") else { return };
    let Some(pooler) = Pooler::start(&server) else { return };
    let address = FleetAddress::read(&pooler.url("pooled"), None).unwrap();
    assert!(address.to_string().contains(":6432/"), "{address}");
    let (m, main) = (name("m"), BranchName::main());
    let store = Store::open_or_create_fleet(&address).unwrap();
    store.create_match(&m, &genesis(), Vec::new()).unwrap();
    store.append(&m, &main, 0, vec![opaque(1)], None).unwrap();
    // FL-21: the server cancels a statement that waits for a lock, and the statement is sent again.
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

#[test]
fn fl_30_a_pooler_in_transaction_mode_is_named() {
    let Some(server) = Server::start("") else { return };
    let Some(pooler) = Pooler::start_for_transactions(&server) else { return };
    let require_named = |what: &str, error: StoreError| {
        let error = error.to_string();
        let is_named = error.ends_with("a pooler in transaction mode? use session mode");
        assert!(is_named && error.contains(what), "{error}");
        let number = error.split("\"s").nth(1).and_then(|rest| rest.split('"').next());
        number.and_then(|number| number.parse::<u64>().ok()).unwrap()
    };
    let psql = || {
        let mut psql = server.psql();
        psql.args(["-p", "6432"]).stdin(Stdio::piped()).stdout(Stdio::piped());
        psql.spawn().unwrap()
    };
    let address = FleetAddress::read(&pooler.url("pooled"), None).unwrap();
    let (m, main) = (name("m"), BranchName::main());
    let store = Store::open_or_create_fleet(&address).unwrap();
    store.create_match(&m, &genesis(), Vec::new()).unwrap();
    // FL-34: the first append of a process looks up the head; later appends know it.
    store.append(&m, &main, 0, vec![opaque(1)], None).unwrap();
    store.append(&m, &main, 1, vec![opaque(2)], None).unwrap();

    // Another process has the server connection with the prepared statements, so this process gets a different one.
    let mut other = psql();
    let mut input = other.stdin.take().unwrap();
    writeln!(input, "BEGIN; SELECT 'begun';").unwrap();
    let mut begun = BufReader::new(other.stdout.take().unwrap()).lines();
    while begun.next().is_some_and(|line| line.unwrap() != "begun") {}
    let number =
        require_named("does not exist", store.append(&m, &main, 2, vec![opaque(3)], None).unwrap_err());
    drop(input);
    other.wait().unwrap();

    // All processes number their statements in the same way.
    let mut other = psql();
    let mut input = other.stdin.take().unwrap();
    // Other tests of this process advance the count, so prepare many numbers.
    (number..number + 2000).for_each(|number| writeln!(input, "PREPARE s{number} AS SELECT 1;").unwrap());
    drop(input);
    other.wait().unwrap();
    require_named("already exists", Store::open_fleet(&address).map(drop).unwrap_err());
}
