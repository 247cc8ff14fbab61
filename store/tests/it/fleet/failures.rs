//! Damage, and servers that are refused, die, or forget what they acknowledged.

use std::thread;
use std::time::Instant;

use turnfold_store::{BranchName, FleetAddress, Store, StoreError};

use super::wires::PATIENCE;
use super::{sql, with_match};
use crate::game::{genesis, labels, name, opaque};
use crate::postgres::{Server, shared};
use crate::rescue::unobserved;

/// FL-22: `verify` and `store check` use the same code for every engine.
#[test]
fn fl_9_every_kind_of_damage_to_a_run_is_named_and_never_served() {
    let Some(server) = shared() else { return };
    let (m, main) = (name("m"), BranchName::main());
    for (damage, seq, reason) in [
        ("UPDATE @run SET records = set_byte(records, 5, get_byte(records, 5) # 1) WHERE first = 2", 2, ""),
        ("UPDATE @run SET records = records || '\\x00' WHERE first = 2", 2, "its run"),
        ("UPDATE @run SET last = 9 WHERE first = 3", 3, "its run has 1 entries and claims to end at 9"),
        ("UPDATE @run SET link = before WHERE first = 2", 2, "does not lead"),
        ("UPDATE @run SET before = link WHERE first = 2", 2, "does not lead"),
        ("DELETE FROM @run WHERE first = 2", 2, "missing"),
        ("UPDATE @run SET key = key + 1 WHERE first = 2", 2, "idempotency key"),
        ("UPDATE @run SET key = NULL WHERE first = 2", 2, "idempotency key"),
    ] {
        let (address, store) = with_match(server);
        for seq in 0..3 {
            let key = format!("k{seq}").parse().unwrap();
            store.append(&m, &main, seq, vec![opaque(seq)], Some(&key)).unwrap();
        }
        assert_eq!(store.check(&mut unobserved()).unwrap().damage, []);
        sql(server, &address, damage);
        let store = Store::open_fleet(&address).unwrap();
        let found = store.check(&mut unobserved()).unwrap().damage;
        let is_named = found.iter().any(|found| {
            found.match_name == Some(m.clone()) && found.seq == Some(seq) && found.reason.contains(reason)
        });
        assert!(is_named, "{damage}: {found:?}");
        let read = store.read(&m, &main, None);
        assert!(
            damage.contains("key") || matches!(read, Err(StoreError::Corrupt { .. })),
            "{damage}: {read:?}"
        );
    }
}

#[test]
fn fl_15_runs_of_no_branch_are_counted_until_they_are_swept() {
    let Some(server) = shared() else { return };
    let (address, store) = with_match(server);
    store.append(&name("m"), &BranchName::main(), 0, vec![opaque(1)], None).unwrap();
    sql(
        server,
        &address,
        "INSERT INTO @run SELECT 7, first, last, key, attempt, before, link, records FROM @run",
    );
    let found = store.check(&mut unobserved()).unwrap().damage;
    assert_eq!(found.len(), 1);
    assert!(found[0].reason.starts_with("1 runs belong to no branch"), "{found:?}");
    Store::sweep_fleet(&address).unwrap();
    assert_eq!(store.check(&mut unobserved()).unwrap().damage, []);
    assert_eq!(labels(&store, "m", "main"), [1]);
}

#[test]
fn fl_20_a_database_that_went_back_is_lost_and_refuses_writes_until_it_is_opened_again() {
    let Some(server) = shared() else { return };
    let (m, main) = (name("m"), BranchName::main());
    for other in [false, true] {
        let (address, store) = with_match(server);
        for seq in 0..3 {
            store.append(&m, &main, seq, vec![opaque(seq)], None).unwrap();
        }
        sql(server, &address, "DELETE FROM @run WHERE first = 3");
        if other {
            let there = Store::open_fleet(&address).unwrap();
            there.append(&m, &main, 2, vec![opaque(9)], None).unwrap();
        }
        for _ in 0..2 {
            let error = store.append(&m, &main, 3, vec![opaque(3)], None).unwrap_err();
            let is_lost = matches!(error, StoreError::Receded { held: 3, found, .. } if found == if other { 3 } else { 2 });
            assert!(is_lost, "{error}");
            assert!(
                error.to_string().starts_with("the database lost data: match `m`, branch `main`"),
                "{error}"
            );
        }
        assert!(matches!(store.head(&m, &main), Err(StoreError::Receded { .. })));
        let again = Store::open_fleet(&address).unwrap();
        let head = again.head(&m, &main).unwrap();
        again.append(&m, &main, head, vec![opaque(4)], None).unwrap();
    }
}

/// The caller of an append waits no longer than this (FL-21).
#[test]
#[expect(clippy::disallowed_methods, reason = "it shows whether time was up")]
fn fl_20_when_time_is_up_it_may_have_been_recorded_and_the_key_shows_it_afterwards() {
    // A server of its own, because other tests use the shared one.
    let Some(server) = Server::start("") else { return };
    let (address, store) = with_match(&server);
    let (m, main) = (name("m"), BranchName::main());
    store.append(&m, &main, 0, vec![opaque(0)], None).unwrap();
    server.kill();
    let key = "k".parse().unwrap();
    let began = Instant::now();
    let error = store.append(&m, &main, 1, vec![opaque(1)], Some(&key)).unwrap_err();
    assert!(matches!(error, StoreError::Unavailable { maybe: true, .. }), "{error}");
    assert!(error.to_string().contains("may have been recorded"), "{error}");
    assert!(began.elapsed() >= PATIENCE);
    server.begin();
    let elsewhere = Store::open_fleet(&address).unwrap();
    let done = elsewhere.append(&m, &main, 1, vec![opaque(1)], Some(&key)).unwrap();
    assert_eq!((done.first, done.last), (2, 2));
    assert!(store.append(&m, &main, 1, vec![opaque(1)], Some(&key)).unwrap().repeated);
    assert_eq!(labels(&store, "m", "main"), [0, 1]);
}

#[test]
fn fl_16_a_server_that_may_lose_what_it_acknowledged_is_refused_unless_that_is_accepted() {
    let Some(server) = shared() else { return };
    sql(server, &server.address(), "CREATE DATABASE careless");
    sql(server, &server.address(), "ALTER DATABASE careless SET synchronous_commit = off");
    let host = server.dir.display().to_string().replace('/', "%2F");
    let open = |more: &str| {
        let url = format!("postgres://tests@{host}/careless?schema=s{more}");
        Store::open_or_create_fleet(&FleetAddress::read(&url, None).unwrap())
    };
    let error = open("").unwrap_err().to_string();
    assert!(
        error.contains("its server has `synchronous_commit = off` and may lose what it acknowledged"),
        "{error}"
    );
    open("&durable=no").unwrap().create_match(&name("m"), &genesis(), Vec::new()).unwrap();
}

#[test]
fn fl_10_tables_of_another_program_are_left_as_they_are() {
    let Some(server) = shared() else { return };
    let host = server.dir.display().to_string().replace('/', "%2F");
    for (schema, column) in [("theirs", "format text"), ("others", "version int")] {
        sql(server, &server.address(), &format!("CREATE SCHEMA {schema}"));
        sql(server, &server.address(), &format!("CREATE TABLE {schema}.meta ({column})"));
        sql(server, &server.address(), &format!("INSERT INTO {schema}.meta VALUES (1)"));
        let url = format!("postgres://tests@{host}/postgres?schema={schema}");
        let address = FleetAddress::read(&url, None).unwrap();
        for error in
            [Store::open_fleet(&address).unwrap_err(), Store::open_or_create_fleet(&address).unwrap_err()]
        {
            let error = error.to_string();
            assert!(
                error.contains("`meta` of its schema is of another program")
                    || error.contains("\"format\" does not exist"),
                "{error}"
            );
        }
    }
}

#[test]
fn a_server_that_is_not_there_is_named_without_the_password() {
    let url = "postgres://u:hidden@%2Fnowhere%2Fat%2Fall/d?schema=s";
    let error = Store::open_fleet(&FleetAddress::read(url, None).unwrap()).unwrap_err().to_string();
    assert!(error.contains("cannot connect to `postgres://u@/nowhere/at/all/d?schema=s`"), "{error}");
    assert!(!error.contains("hidden"), "{error}");
}

#[test]
#[expect(clippy::print_stderr, reason = "the figures of the long form")]
fn fl_28_a_server_killed_under_load_loses_nothing_and_doubles_nothing() {
    let full = std::env::var_os("TURNFOLD_FLEET_FULL").is_some();
    let (kills, writers) = if full { (50, 8) } else { (2, 4) };
    // A server of its own, because other tests use the shared one.
    let Some(server) = Server::start("") else { return };
    let address = server.address();
    let store = Store::open_or_create_fleet(&address).unwrap();
    for writer in 0..writers {
        store.create_match(&name(&format!("m{writer}")), &genesis(), Vec::new()).unwrap();
    }
    let done = std::sync::atomic::AtomicBool::new(false);
    let counts: Vec<u64> = thread::scope(|scope| {
        let (store, done) = (&store, &done);
        let threads: Vec<_> = (0..writers)
            .map(|writer| {
                scope.spawn(move || {
                    let (m, main) = (name(&format!("m{writer}")), BranchName::main());
                    let mut head = 0;
                    while !done.load(std::sync::atomic::Ordering::SeqCst) || head < 20 {
                        let key = format!("k{head}").parse().unwrap();
                        let appended = store.append(&m, &main, head, vec![opaque(head)], Some(&key)).unwrap();
                        // The caller got every answer, so no append counts as repeated.
                        assert_eq!((appended.last, appended.repeated), (head + 1, false));
                        head += 1;
                    }
                    head
                })
            })
            .collect();
        for _ in 0..kills {
            let before = store.head(&name("m0"), &BranchName::main()).unwrap();
            while store.head(&name("m0"), &BranchName::main()).unwrap() < before + 5 {
                thread::yield_now();
            }
            server.kill();
            server.begin();
        }
        done.store(true, std::sync::atomic::Ordering::SeqCst);
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    for (writer, count) in counts.iter().enumerate() {
        assert_eq!(labels(&store, &format!("m{writer}"), "main"), (0..*count).collect::<Vec<_>>());
    }
    assert_eq!(store.check(&mut unobserved()).unwrap().damage, []);
    if full {
        eprintln!("{kills} kills, {} appends", counts.iter().sum::<u64>());
    }
}
