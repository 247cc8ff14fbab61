//! The engine on PostgreSQL: what only this engine can do, and what can only happen to it.

mod failures;
pub(crate) mod many;
mod migration;
mod pooler;
pub(crate) mod reservations;
mod spread;
mod standby;
mod tls;
mod two;
mod wires;

use turnfold_store::{Appended, BranchName, FleetAddress, Store, StoreError, StoreReader};

use crate::game::{branch, genesis, labels, name, opaque};
use crate::postgres::{Server, alone, shared};
use crate::rescue::{contents, fill, unobserved};

/// Creates a store in a schema of its own, with a match `m`.
fn with_match(server: &Server) -> (FleetAddress, Store) {
    let address = server.address();
    let store = Store::open_or_create_fleet(&address).unwrap();
    store.create_match(&name("m"), &genesis(), Vec::new()).unwrap();
    (address, store)
}

/// Runs statements on a schema. `@` stands for the schema before the name of a table.
fn sql(server: &Server, address: &FleetAddress, statements: &str) {
    connect(server).batch_execute(&in_schema(address, statements)).unwrap();
}

/// Replaces each `@` with the schema of an address.
fn in_schema(address: &FleetAddress, statements: &str) -> String {
    let schema = address.to_string();
    statements.replace('@', &format!("{}.", schema.rsplit_once('=').unwrap().1))
}

fn connect(server: &Server) -> postgres::Client {
    let mut config = postgres::Config::new();
    config.user("tests").dbname("postgres").host_path(&server.dir).connect(postgres::NoTls).unwrap()
}

fn backup(store: &StoreReader) -> Vec<u8> {
    let mut bytes = Vec::new();
    store.backup(&mut bytes, false, &mut unobserved()).unwrap();
    bytes
}

#[test]
fn fl_2_a_backup_goes_from_disk_to_a_database_and_back_byte_for_byte() {
    let Some(server) = shared() else { return };
    let disk = Store::in_memory();
    fill(&disk);
    // FL-7: an append of more entries than fit into a run, once with a key and once without.
    let long = branch("long");
    disk.create_branch(&name("m"), &long, &BranchName::main(), 0, Vec::new()).unwrap();
    disk.append(
        &name("m"),
        &long,
        0,
        (0..5000).map(opaque).collect::<Vec<_>>(),
        Some(&"long".parse().unwrap()),
    )
    .unwrap();
    disk.append(&name("m"), &long, 5000, (0..5000).map(opaque).collect::<Vec<_>>(), None).unwrap();
    let bytes = backup(&disk);
    let address = server.address();
    let totals = Store::restore_fleet(bytes.as_slice(), &address, &mut unobserved()).unwrap();
    let fleet = Store::open_fleet(&address).unwrap();
    assert_eq!(contents(&fleet), contents(&disk));
    assert_eq!(backup(&fleet), bytes);
    let stats = fleet.stats(1, &mut unobserved()).unwrap();
    assert_eq!((stats.totals, stats.largest[0].name.as_str()), (totals, "m"));
    let back = Store::restore_in_memory(backup(&fleet).as_slice()).unwrap();
    assert_eq!(backup(&back), bytes);
    let refused = Store::restore_fleet(bytes.as_slice(), &address, &mut unobserved()).unwrap_err();
    assert!(refused.to_string().contains("its schema holds matches"), "{refused}");
    assert_eq!(contents(&fleet), contents(&disk));
}

#[test]
fn fl_23_no_one_opens_what_a_restore_left_behind_and_the_next_one_empties_it() {
    let Some(server) = shared() else { return };
    let disk = Store::in_memory();
    fill(&disk);
    let (bytes, address) = (backup(&disk), server.address());
    let cut = bytes.get(..bytes.len() - 40).unwrap();
    Store::restore_fleet(cut, &address, &mut unobserved()).unwrap_err();
    for error in [
        Store::open_fleet(&address).unwrap_err(),
        Store::open_or_create_fleet(&address).unwrap_err(),
        StoreReader::open_fleet(&address).unwrap_err(),
    ] {
        assert!(error.to_string().contains("a restore into its schema is under way or broke off"), "{error}");
    }
    Store::restore_fleet(bytes.as_slice(), &address, &mut unobserved()).unwrap();
    assert_eq!(contents(&Store::open_fleet(&address).unwrap()), contents(&disk));
}

#[test]
fn fl_10_a_schema_without_a_store_and_one_of_another_format_are_refused_by_name() {
    let Some(server) = alone() else { return };
    let address = server.address();
    let error = Store::open_fleet(&address).unwrap_err().to_string();
    assert!(error.contains("there is no store in its schema"), "{error}");
    let many: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| Store::open_or_create_fleet(&address))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(many.iter().all(Result::is_ok), "{many:?}");
    sql(server, &address, "UPDATE @meta SET format = 3");
    let error = Store::open_or_create_fleet(&address).unwrap_err().to_string();
    assert!(error.contains("its tables have the format 3, this build knows 2"), "{error}");
}

/// All processes see what one has acknowledged (FL-17).
#[test]
fn fl_8_who_saw_a_branch_that_was_deleted_and_made_again_does_not_write_to_the_old_one() {
    let Some(server) = shared() else { return };
    let (address, here) = with_match(server);
    let there = Store::open_fleet(&address).unwrap();
    let (m, line, main) = (name("m"), branch("line"), BranchName::main());
    here.create_branch(&m, &line, &main, 0, Vec::new()).unwrap();
    here.append(&m, &line, 0, vec![opaque(1)], None).unwrap();
    there.delete_branch(&m, &line).unwrap();
    assert!(matches!(here.append(&m, &line, 1, vec![opaque(2)], None), Err(StoreError::NoSuchBranch { .. })));
    there.create_branch(&m, &line, &main, 0, Vec::new()).unwrap();
    there.append(&m, &line, 0, vec![opaque(7)], None).unwrap();
    here.append(&m, &line, 1, vec![opaque(8)], None).unwrap();
    assert_eq!(labels(&there, "m", "line"), [7, 8]);
    // A renamed branch takes no append under its old name.
    there.rename_branch(&m, &line, &branch("other")).unwrap();
    assert!(matches!(here.append(&m, &line, 2, vec![opaque(9)], None), Err(StoreError::NoSuchBranch { .. })));
    there.rename_match(&m, &name("n")).unwrap();
    assert!(matches!(here.append(&m, &main, 0, vec![opaque(9)], None), Err(StoreError::NoSuchMatch { .. })));
    here.append(&name("n"), &branch("other"), 2, vec![opaque(9)], None).unwrap();
    assert_eq!(labels(&there, "n", "other"), [7, 8, 9]);
    assert_eq!(there.check(&mut unobserved()).unwrap().damage, []);
}

/// FL-6: the index contains only 8 bytes of a key's hash.
#[test]
fn fl_12_keys_of_one_hash_stay_two_keys() {
    let Some(server) = shared() else { return };
    let (address, store) = with_match(server);
    let (m, main) = (name("m"), BranchName::main());
    let [taken, key, other] = ["taken", "key", "other"].map(|key| key.parse().unwrap());
    let append = |store: &Store, seq, key| store.append(&m, &main, seq, vec![opaque(seq)], Some(key));
    append(&store, 0, &taken).unwrap();
    // As if `taken` and `key` had the same hash.
    sql(
        server,
        &address,
        "UPDATE @run SET key = ('x' || left(encode(sha256('key'), 'hex'), 16))::bit(64)::bigint",
    );
    let there = Store::open_fleet(&address).unwrap();
    for (store, repeated) in [(&store, false), (&store, true), (&there, true)] {
        assert_eq!(append(store, 1, &key).unwrap(), Appended { first: 2, last: 2, repeated });
    }
    let found = |key| there.find_idempotency_key(&m, &main, key).unwrap();
    assert_eq!((found(&key), found(&other)), (Some(2..=2), None));
    let reused = store.append(&m, &main, 2, vec![opaque(7)], Some(&key)).unwrap_err();
    assert!(matches!(reused, StoreError::IdempotencyKeyReused { first: 2, last: 2, .. }), "{reused}");
    append(&there, 2, &other).unwrap();
    assert_eq!(labels(&there, "m", "main"), [0, 1, 2]);
    // Only the run whose slot was changed is reported.
    let damage = there.check(&mut unobserved()).unwrap().damage;
    assert!(!damage.is_empty() && damage.iter().all(|found| found.seq == Some(1)), "{damage:?}");
}

#[test]
fn a_backup_holds_one_moment_of_every_match_while_others_write_and_delete() {
    let Some(server) = shared() else { return };
    let (address, store) = with_match(server);
    let (m, line) = (name("m"), branch("line"));
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let other = Store::open_fleet(&address).unwrap();
            for round in 0..20 {
                other.create_branch(&m, &line, &BranchName::main(), round, Vec::new()).unwrap();
                other.append(&m, &line, round, (0..100).map(opaque).collect::<Vec<_>>(), None).unwrap();
                other.append(&m, &BranchName::main(), round, vec![opaque(round)], None).unwrap();
                other.delete_branch(&m, &line).unwrap();
            }
        });
        while !writer.is_finished() {
            let restored = Store::restore_in_memory(backup(&store).as_slice()).unwrap();
            assert_eq!(restored.check(&mut unobserved()).unwrap().damage, []);
        }
    });
    assert_eq!(labels(&store, "m", "main"), (0..20).collect::<Vec<_>>());
}

#[test]
fn fl_30_nothing_is_asked_of_a_server_that_not_all_of_them_have() {
    const WORDS: [&str; 8] =
        ["pg_advisory", "LISTEN ", "NOTIFY", "SEQUENCE", "TRIGGER", "FOR UPDATE", "LOCK TABLE", "TEMP"];
    let sources = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/postgres");
    for file in std::fs::read_dir(sources).unwrap() {
        let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
        for line in text.lines().filter(|line| !line.trim_start().starts_with("//")) {
            assert!(!WORDS.iter().any(|word| line.contains(word)), "{line}");
        }
    }
}

#[test]
fn fl_31_the_same_statements_serve_a_database_that_spreads_runs_by_branch() {
    let Some(server) = alone() else { return };
    let address = server.address();
    let store = Store::open_or_create_fleet(&address).unwrap();
    fill(&store);
    let before = backup(&store);
    sql(
        server,
        &address,
        "ALTER TABLE @run RENAME TO whole; \
         CREATE TABLE @run (LIKE @whole INCLUDING ALL) PARTITION BY HASH (branch); \
         CREATE TABLE @run0 PARTITION OF @run FOR VALUES WITH (MODULUS 2, REMAINDER 0); \
         CREATE TABLE @run1 PARTITION OF @run FOR VALUES WITH (MODULUS 2, REMAINDER 1); \
         INSERT INTO @run SELECT * FROM @whole; DROP TABLE @whole",
    );
    let store = Store::open_fleet(&address).unwrap();
    assert_eq!(backup(&store), before);
    for number in 0..8 {
        let m = name(&format!("spread{number}"));
        store.create_match(&m, &genesis(), Vec::new()).unwrap();
        let key = "k".parse().unwrap();
        let append = || store.append(&m, &BranchName::main(), 0, vec![opaque(number)], Some(&key)).unwrap();
        assert!(!append().repeated && append().repeated);
        let error = store.append(&m, &BranchName::main(), 0, vec![opaque(9)], None).unwrap_err();
        assert!(matches!(error, StoreError::Conflict { .. }), "{error}");
        assert_eq!(labels(&store, m.as_str(), "main"), [number]);
    }
    assert_eq!(store.check(&mut unobserved()).unwrap().damage, []);
}
