//! From format 1 to format 2 (FL-10): one transaction, so that there is always a whole store of one format.

use serde::Serialize;

use super::connect::Connection;
use super::fault::Fault;
use super::read::get;

/// The format of a store in a database before and after a migration; both are the same if there was nothing to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Migration {
    /// The format that it had.
    pub from: i32,
    /// The format that it has now.
    pub to: i32,
}

/// Each statement sees what was committed before it, whatever the server's default is. So once the tables are locked, the
/// statements that copy see all that was ever appended to them.
const BEGIN: &str = "BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL statement_timeout = 0; \
                     SET LOCAL idle_in_transaction_session_timeout = 0";

/// Locks out readers and writers, after those that are at it, in the order in which the creation of a match locks. The names
/// of tables and indexes become free.
const ASIDE: &str = "\
ALTER TABLE @match ADD COLUMN IF NOT EXISTS module bytea; ALTER TABLE @branch RENAME TO branch_1; ALTER TABLE @run RENAME TO run_1; DROP INDEX IF EXISTS @run_key; \
ALTER INDEX IF EXISTS @branch_pkey RENAME TO branch_1_pkey; ALTER INDEX IF EXISTS @run_pkey RENAME TO run_1_pkey; \
ALTER INDEX IF EXISTS @branch_match_name_key RENAME TO branch_1_match_name_key";

/// The number of a branch, which `main` gets from the id of its match (FL-8).
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

/// Copies what belongs to a branch. A key becomes its slot; no two of a branch had one hash.
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

/// Who owned the tables and what others were permitted, as statements for the new ones.
const RIGHTS: &str = "\
WITH old AS (SELECT n.name, c.* FROM (VALUES ('@branch', '@branch_1'), ('@run', '@run_1')) AS n(name, old) \
    JOIN pg_class c ON c.oid = n.old::regclass) \
SELECT format('ALTER TABLE %s OWNER TO %I', name, pg_get_userbyid(relowner)) FROM old UNION ALL \
SELECT format('GRANT %s ON %s TO %s', a.privilege_type, name, \
    CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(a.grantee)) END) \
    FROM old, aclexplode(old.relacl) a";

/// Changes the format of the store and makes new tables of the old ones. If another process did that first, it does nothing.
pub(super) fn migrate(connection: &mut Connection, formats: Migration, tables: &str) -> Result<(), Fault> {
    connection.run(BEGIN)?;
    let claim = "UPDATE @meta SET format = $1 WHERE format = $2";
    if connection.execute(claim, &[&formats.to, &formats.from])? == 1 {
        rebuild(connection, tables)?;
    }
    connection.run("COMMIT")
}

/// Makes the tables of this build if an older build made the tables for a restore that broke off.
pub(super) fn require_tables(connection: &mut Connection, tables: &str) -> Result<(), Fault> {
    const IS_FORMER: &str = "SELECT FROM pg_attribute WHERE attrelid = to_regclass('@run') AND attname = 'match' \
                             AND NOT attisdropped";
    if connection.query(IS_FORMER, &[])?.is_empty() {
        return Ok(());
    }
    connection.run(BEGIN)?;
    rebuild(connection, tables)?;
    connection.run("COMMIT")
}

/// Makes new tables of the old ones within a transaction.
fn rebuild(connection: &mut Connection, tables: &str) -> Result<(), Fault> {
    connection.run(ASIDE)?;
    connection.run(tables)?;
    let rights = connection.query(RIGHTS, &[])?;
    connection.run(COPY)?;
    for row in rights {
        connection.run_as_is(get(&row, 0)?)?;
    }
    Ok(())
}
