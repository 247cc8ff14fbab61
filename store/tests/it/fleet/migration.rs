//! FL-10: this build migrates a store of format 1 or leaves it unchanged.

use std::thread;

use turnfold_store::{BranchName, FleetAddress, Migration, Store, StoreError, StoreReader};

use super::{backup, connect, in_schema, sql};
use crate::game::{branch, genesis, name, opaque};
use crate::postgres::{Server, alone};
use crate::rescue::{fill, unobserved};

/// The idempotency keys in a sample.
const KEYS: &str = "('k'), ('l'), ('long'), ('late')";

/// Makes the tables as builds for format 1 did, with the rows of the tables of format 2: each `main` has the number 0,
/// and a run has its key as text.
const FORMER: &str = r#"
CREATE TABLE @kept_branch AS SELECT *, CASE name WHEN 'main' THEN 0 ELSE no END AS former FROM @branch;
CREATE TABLE @kept_run AS SELECT * FROM @run;
DROP TABLE @run, @branch;
CREATE TABLE IF NOT EXISTS @branch (match uuid, no bigint, name text COLLATE "C" NOT NULL, parent bigint,
    at bigint NOT NULL, before bytea NOT NULL, PRIMARY KEY (match, no), UNIQUE (match, name),
    FOREIGN KEY (match, parent) REFERENCES @branch (match, no));
CREATE TABLE IF NOT EXISTS @run (match uuid, branch bigint, first bigint, last bigint NOT NULL CHECK (last >= first),
    attempt uuid NOT NULL, key text COLLATE "C", before bytea NOT NULL, link bytea NOT NULL, records bytea NOT NULL,
    PRIMARY KEY (match, branch, first));
CREATE UNIQUE INDEX IF NOT EXISTS run_key ON @run (match, branch, key) WHERE key IS NOT NULL;
INSERT INTO @branch SELECT b.match, b.former, b.name, p.former, b.at, b.before
    FROM @kept_branch b LEFT JOIN @kept_branch p ON p.no = b.parent;
INSERT INTO @run SELECT b.match, b.former, r.first, r.last, r.attempt, k.key, r.before, r.link, r.records
    FROM @kept_run r JOIN @kept_branch b ON b.no = r.branch LEFT JOIN (VALUES KEYS) AS k(key)
    ON r.key = ('x' || left(encode(sha256(k.key::bytea), 'hex'), 16))::bit(64)::bigint;
DROP TABLE @kept_run, @kept_branch;
ALTER TABLE @match DROP COLUMN module;
UPDATE @meta SET format = 1
"#;

/// The statements with which builds for format 1 append and create a match.
const FORMER_APPEND: &str = "INSERT INTO @run (match, branch, first, last, attempt, key, before, link, records) \
     SELECT n.match, n.branch, n.first, n.last, n.attempt, n.key, n.before, n.link, n.records FROM \
     (SELECT NULL::uuid, 0::bigint, 1::bigint, 1::bigint, NULL::uuid, NULL::text, ''::bytea, ''::bytea, ''::bytea, \
     'm'::text, 'main'::text) \
     AS n(match, branch, first, last, attempt, key, before, link, records, match_name, branch_name) \
     JOIN @match m ON m.id = n.match AND m.name = n.match_name \
     JOIN @branch b ON b.match = n.match AND b.no = n.branch AND b.name = n.branch_name \
     LEFT JOIN LATERAL (SELECT p.last, p.link FROM @run p WHERE p.match = n.match AND p.branch = n.branch \
     ORDER BY p.first DESC LIMIT 1) h ON true \
     WHERE coalesce(h.last, b.at) = n.first - 1 AND coalesce(h.link, b.before) = n.before \
     ORDER BY n.match, n.branch ON CONFLICT DO NOTHING RETURNING attempt";
const FORMER_BEGIN: &str = "INSERT INTO @branch (match, no, name, parent, at, before) \
     VALUES ('00000000-0000-0000-0000-000000000001', 0, 'main', NULL, 0, '')";

/// Creates a store of format 1, and returns a backup of its contents.
fn former(server: &Server) -> (FleetAddress, Vec<u8>) {
    let address = server.address();
    let store = Store::open_or_create_fleet(&address).unwrap();
    fill(&store);
    // FL-7: an append of several runs, of which only the first has the key.
    let long = branch("long");
    store.create_branch(&name("m"), &long, &branch("line"), 60, Vec::new()).unwrap();
    store
        .append(
            &name("m"),
            &long,
            60,
            (0..5000).map(opaque).collect::<Vec<_>>(),
            Some(&"long".parse().unwrap()),
        )
        .unwrap();
    store
        .append(&name("m"), &BranchName::main(), 66, vec![opaque(1)], Some(&"late".parse().unwrap()))
        .unwrap();
    let before = backup(&store);
    sql(server, &address, &FORMER.replace("KEYS", KEYS));
    let keys = "SELECT count(key) = 4 AND count(*) FILTER (WHERE branch = 0) > 1 FROM @run";
    assert_eq!(server.sql(&in_schema(&address, keys)).trim(), "t");
    (address, before)
}

/// Returns a digest of all rows in the tables of format 1.
fn rows(server: &Server, address: &FleetAddress) -> String {
    let table = |table| format!("(SELECT md5(string_agg(t::text, '' ORDER BY t::text)) FROM @{table} t)");
    let tables = ["meta", "match", "branch", "run", "access"].map(table).join(", ");
    let found = server.sql(&in_schema(address, &format!("SELECT {tables}")));
    assert_eq!(found.trim().len(), 5 * 32 + 4, "{found}");
    found
}

fn require_refused(error: &str) {
    assert!(error.contains("its tables have the format 1, this build reads 2"), "{error}");
    assert!(error.contains("`turnfold store upgrade`"), "{error}");
}

/// Requires a store to be sound and to have everything in a backup: entries, heads, links and keys; and the grants.
fn require_same(store: &Store, before: &[u8]) {
    assert_eq!(store.check(&mut unobserved()).unwrap().damage, []);
    assert!(backup(store) == before, "the backups differ");
}

const MIGRATED: Migration = Migration { from: 1, to: 2 };

#[test]
fn fl_10_a_store_of_format_1_is_refused_by_name_until_it_is_migrated_and_keeps_all_it_had() {
    let Some(server) = alone() else { return };
    let (address, before) = former(server);
    for error in [
        Store::open_fleet(&address).unwrap_err(),
        Store::open_or_create_fleet(&address).unwrap_err(),
        StoreReader::open_fleet(&address).unwrap_err(),
    ] {
        require_refused(&error.to_string());
    }
    require_refused(
        &Store::restore_fleet(before.as_slice(), &address, &mut unobserved()).unwrap_err().to_string(),
    );
    sql(server, &address, "CREATE ROLE \"app@games\"; GRANT SELECT, INSERT ON @run TO \"app@games\"");
    let mut older = connect(server);
    let append = older.prepare(&in_schema(&address, FORMER_APPEND)).unwrap();
    let begin = older.prepare(&in_schema(&address, FORMER_BEGIN)).unwrap();
    older.query(&append, &[]).unwrap();

    assert_eq!(Store::migrate_fleet(&address).unwrap(), MIGRATED);
    assert_eq!(Store::migrate_fleet(&address).unwrap(), Migration { from: 2, to: 2 });
    let store = Store::open_fleet(&address).unwrap();
    require_same(&store, &before);
    let may = "SELECT has_table_privilege('app@games', '@run', 'INSERT'), has_table_privilege('app@games', '@run', 'DELETE')";
    assert_eq!(server.sql(&in_schema(&address, may)).trim(), "t|f");

    // The server refuses the statements of an older build that still runs.
    let refused = |error: postgres::Error| error.as_db_error().unwrap().message().to_owned();
    let reason = refused(older.query(&append, &[]).unwrap_err());
    assert_eq!(reason, "column \"match\" of relation \"run\" does not exist");
    let reason = refused(older.query(&begin, &[]).unwrap_err());
    assert_eq!(reason, "new row for relation \"branch\" violates check constraint \"branch_no_check\"");

    // Keys give the same answers as before, and the store can be continued.
    let (m, main, long) = (name("m"), BranchName::main(), branch("long"));
    let key = "long".parse().unwrap();
    let again = store.append(&m, &long, 60, (0..5000).map(opaque).collect::<Vec<_>>(), Some(&key)).unwrap();
    assert!(again.repeated && (again.first, again.last) == (61, 5060), "{again:?}");
    let other = store.append(&m, &long, 5060, vec![opaque(1)], Some(&key)).unwrap_err();
    assert!(matches!(other, StoreError::IdempotencyKeyReused { .. }), "{other}");
    store.append(&m, &main, 67, vec![opaque(2)], Some(&key)).unwrap();
    store.create_branch(&m, &branch("new"), &main, 68, Vec::new()).unwrap();
    store.create_match(&name("new"), &genesis(), vec![opaque(1)]).unwrap();
    assert!(matches!(store.delete_branch(&m, &branch("line")), Err(StoreError::BranchInUse { .. })));
    store.delete_branch(&m, &long).unwrap();
    store.delete_match(&name("empty")).unwrap();
    assert_eq!(store.check(&mut unobserved()).unwrap().damage, []);
    let names =
        "SELECT string_agg(indexname, ' ' ORDER BY indexname) FROM pg_indexes WHERE schemaname || '.' = '@'";
    let made = server.address();
    Store::open_or_create_fleet(&made).unwrap();
    assert_eq!(server.sql(&in_schema(&address, names)), server.sql(&in_schema(&made, names)));
}

/// Starts a migration while another session blocks it, and then calls `act`.
fn migrate_behind(
    (server, address): (&Server, &FleetAddress),
    in_the_way: &str,
    act: impl FnOnce(&mut postgres::Client, i32),
) -> Result<Migration, StoreError> {
    let mut other = connect(server);
    other.batch_execute(&in_schema(address, &format!("BEGIN; {in_the_way}"))).unwrap();
    let pid: i32 = other.query_one("SELECT pg_backend_pid()", &[]).unwrap().get(0);
    // The migration must not depend on the server's default isolation level.
    let url = format!("{}&options=-c%20default_transaction_isolation%3Dserializable", url(server, address));
    let address = FleetAddress::read(&url, None).unwrap();
    thread::scope(|scope| {
        let migration = scope.spawn(|| Store::migrate_fleet(&address));
        server.wait_for(&format!(
            "SELECT count(*) > 0 FROM pg_stat_activity WHERE {pid} = ANY(pg_blocking_pids(pid))"
        ));
        act(&mut other, pid);
        migration.join().unwrap()
    })
}

fn url(server: &Server, address: &FleetAddress) -> String {
    server.url(in_schema(address, "@").trim_end_matches('.'))
}

#[test]
fn fl_10_a_migration_that_is_broken_off_leaves_format_1_whole() {
    let Some(server) = alone() else { return };
    let (address, before) = former(server);
    let found = rows(server, &address);
    // The migration waits for a reader of the old runs, or in the middle of creating the new tables.
    for in_the_way in ["SELECT FROM @run", "CREATE TABLE @branch_parent ()"] {
        let migrated = migrate_behind((server, &address), in_the_way, |other, pid| {
            let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE $1 = ANY(pg_blocking_pids(pid))";
            assert_eq!(other.query(end, &[&pid]).unwrap().len(), 1);
        });
        let error = migrated.unwrap_err().to_string();
        assert!(error.contains("the migration broke off, run it again"), "{error}");
        require_refused(&Store::open_fleet(&address).unwrap_err().to_string());
        assert_eq!(rows(server, &address), found);
    }
    assert_eq!(Store::migrate_fleet(&address).unwrap(), MIGRATED);
    require_same(&Store::open_fleet(&address).unwrap(), &before);
}

#[test]
fn fl_10_what_is_appended_until_a_migration_has_its_locks_is_migrated_too() {
    let Some(server) = alone() else { return };
    let (address, before) = former(server);
    sql(
        server,
        &address,
        "CREATE TABLE @late AS SELECT * FROM @run WHERE key = 'late'; DELETE FROM @run WHERE key = 'late'",
    );
    let migrated = migrate_behind((server, &address), "INSERT INTO @run SELECT * FROM @late", |other, _| {
        other.batch_execute("COMMIT").unwrap();
    });
    assert_eq!(migrated.unwrap(), MIGRATED);
    require_same(&Store::open_fleet(&address).unwrap(), &before);
}

#[test]
fn fl_23_a_restore_begins_again_where_one_of_an_older_build_broke_off() {
    let Some(server) = alone() else { return };
    let (address, before) = former(server);
    sql(server, &address, "UPDATE @meta SET format = 0");
    let error = Store::migrate_fleet(&address).unwrap_err().to_string();
    assert!(error.contains("a restore into its schema is under way or broke off"), "{error}");
    Store::restore_fleet(before.as_slice(), &address, &mut unobserved()).unwrap();
    require_same(&Store::open_fleet(&address).unwrap(), &before);
}
