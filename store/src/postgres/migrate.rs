//! The migration from format 1 to format 2 (FL-10). It is one transaction, so the store is whole and of one format at
//! all times.

use serde::Serialize;

use super::connect::Connection;
use super::fault::StatementFault;
use super::read::get;

/// The formats of a store in a database before and after a migration. They are equal if there was nothing to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Migration {
    /// The format before.
    pub from: i32,
    /// The format after.
    pub to: i32,
}

/// Each statement sees everything that was committed before it, whatever the server's default is. So once the tables
/// are locked, the statements that copy see all appends.
const BEGIN: &str = "BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL statement_timeout = 0; \
                     SET LOCAL idle_in_transaction_session_timeout = 0";

/// Renames the old tables and indexes, so that their names become free. This waits for running transactions and then
/// locks out readers and writers. It locks in the same order as the creation of a match, so that the two cannot
/// deadlock.
const ASIDE: &str = "\
ALTER TABLE @match ADD COLUMN IF NOT EXISTS module bytea; ALTER TABLE @branch RENAME TO branch_1; ALTER TABLE @run RENAME TO run_1; DROP INDEX IF EXISTS @run_key; \
ALTER INDEX IF EXISTS @branch_pkey RENAME TO branch_1_pkey; ALTER INDEX IF EXISTS @run_pkey RENAME TO run_1_pkey; \
ALTER INDEX IF EXISTS @branch_match_name_key RENAME TO branch_1_match_name_key";

/// The number of a branch. `main` gets its number from the id of its match (FL-8).
macro_rules! number {
    ($match:literal, $no:literal) => {
        concat!(
            "CASE ",
            $no,
            " WHEN 0 THEN greatest(1, (('x' || left(replace(",
            $match,
            "::text, '-', ''), 16))::bit(64) >> 1)::bigint) ELSE ",
            $no,
            " END"
        )
    };
}

/// Copies branches, and runs that belong to a branch. Each key becomes its first slot; if two keys of a branch have the
/// same one, the migration fails.
const COPY: &str = concat!(
    "INSERT INTO @branch (no, match, parent, at, name, before) SELECT ",
    number!("match", "no"),
    ", match, ",
    number!("match", "parent"),
    ", at, name, before FROM @branch_1; \
     INSERT INTO @run (branch, first, last, key, attempt, before, link, records) SELECT ",
    number!("r.match", "r.branch"),
    ", first, last, ('x' || left(encode(sha256(convert_to(key, 'UTF8')), 'hex'), 16))::bit(64)::bigint, attempt, \
     r.before, link, records FROM @run_1 r JOIN @branch_1 b ON b.match = r.match AND b.no = r.branch; \
     DROP TABLE @run_1, @branch_1"
);

/// The owners and privileges of the old tables, as statements that give them to the new ones.
const RIGHTS: &str = "\
WITH old AS (SELECT n.name, c.* FROM (VALUES ('@branch', '@branch_1'), ('@run', '@run_1')) AS n(name, old) \
    JOIN pg_class c ON c.oid = n.old::regclass) \
SELECT format('ALTER TABLE %s OWNER TO %I', name, pg_get_userbyid(relowner)) FROM old UNION ALL \
SELECT format('GRANT %s ON %s TO %s', a.privilege_type, name, \
    CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(a.grantee)) END) \
    FROM old, aclexplode(old.relacl) a";

pub(super) fn migrate(
    connection: &mut Connection,
    formats: Migration,
    tables: &str,
) -> Result<(), StatementFault> {
    connection.run(BEGIN)?;
    let claim = "UPDATE @meta SET format = $1 WHERE format = $2";
    if connection.execute(claim, &[&formats.to, &formats.from])? == 1 {
        rebuild(connection, tables)?;
    }
    connection.run("COMMIT")
}

/// Rebuilds the tables if an older build created them for a restore that broke off.
pub(super) fn require_tables(connection: &mut Connection, tables: &str) -> Result<(), StatementFault> {
    const IS_FORMER: &str = "SELECT FROM pg_attribute WHERE attrelid = to_regclass('@run') AND attname = 'match' \
                             AND NOT attisdropped";
    if connection.query(IS_FORMER, &[])?.is_empty() {
        return Ok(());
    }
    connection.run(BEGIN)?;
    rebuild(connection, tables)?;
    connection.run("COMMIT")
}

fn rebuild(connection: &mut Connection, tables: &str) -> Result<(), StatementFault> {
    connection.run(ASIDE)?;
    connection.run(tables)?;
    let rights = connection.query(RIGHTS, &[])?;
    connection.run(COPY)?;
    for row in rights {
        connection.run_as_is(get(&row, 0)?)?;
    }
    Ok(())
}
