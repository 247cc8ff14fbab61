//! The tables (FL-6), which are created once and identified by their format (FL-10).

use super::connect::{Connection, pause};
use super::fault::StatementFault;
use super::migrate::{self, Migration};
use super::notes;
use crate::error::StoreError;
use uuid::Uuid;

/// The format of the tables that this build reads and writes.
const FORMAT: i32 = 2;

/// The previous format, which `store upgrade` migrates to [`FORMAT`].
const FORMER: i32 = 1;

/// The format of tables that a restore is filling, or that an interrupted restore left behind.
const UNFINISHED: i32 = 0;

/// How often to try to create tables while other processes create them too.
const CREATE_TRIES_MAX: u32 = 50;

/// FL-30: plain tables, without anything that another server with the same protocol might lack. FL-31: both keys of
/// `run` begin with the branch, whose number is random, so that runs can be partitioned by branch with the same
/// statements. Columns of fixed width come first, so that rows have no padding. The check of `branch.no` refuses a
/// build for format 1, which gives each `main` the number 0.
const TABLES: &str = r#"
CREATE TABLE IF NOT EXISTS @meta (one boolean PRIMARY KEY CHECK (one), format int NOT NULL, store uuid NOT NULL);
CREATE TABLE IF NOT EXISTS @match (name text COLLATE "C" PRIMARY KEY, id uuid NOT NULL UNIQUE, genesis bytea NOT NULL,
    module bytea);
CREATE TABLE IF NOT EXISTS @branch (no bigint PRIMARY KEY CHECK (no > 0), match uuid NOT NULL,
    parent bigint REFERENCES @branch, at bigint NOT NULL, name text COLLATE "C" NOT NULL, before bytea NOT NULL,
    UNIQUE (match, name));
CREATE INDEX IF NOT EXISTS branch_parent ON @branch (parent) WHERE parent IS NOT NULL;
CREATE TABLE IF NOT EXISTS @run (branch bigint, first bigint, last bigint NOT NULL CHECK (last >= first), key bigint,
    attempt uuid NOT NULL, before bytea NOT NULL, link bytea NOT NULL, records bytea NOT NULL,
    PRIMARY KEY (branch, first));
CREATE UNIQUE INDEX IF NOT EXISTS run_key ON @run (branch, key) WHERE key IS NOT NULL;
CREATE TABLE IF NOT EXISTS @access (hash bytea PRIMARY KEY, match uuid, body bytea NOT NULL);
CREATE INDEX IF NOT EXISTS access_match ON @access (match);
CREATE TABLE IF NOT EXISTS @note (match uuid NOT NULL, id bigint NOT NULL, branch bigint, body bytea NOT NULL,
    PRIMARY KEY (match, id));
"#;

pub(super) fn require(connection: &mut Connection) -> Result<(), StatementFault> {
    match format(connection)? {
        Some(format) => require_format(format),
        None => {
            Err(refused("there is no store in its schema: create a match first, or name the right schema"))
        }
    }
}

/// Creates the tables if there are none. An account that may not create tables can use existing ones.
pub(super) fn require_or_create(connection: &mut Connection) -> Result<(), StatementFault> {
    // If several processes create them at once, one may fail and then find the tables that another created.
    let mut tries = 0;
    while format(connection)?.is_none() {
        tries += 1;
        match create(connection, FORMAT) {
            Err(_) if tries < CREATE_TRIES_MAX => pause(),
            done => done?,
        }
    }
    require(connection)
}

/// Migrates a store to the format of this build (FL-10).
pub(super) fn migrate(connection: &mut Connection) -> Result<Migration, StatementFault> {
    if format(connection)? != Some(FORMER) {
        require(connection)?;
        return Ok(Migration { from: FORMAT, to: FORMAT });
    }
    let formats = Migration { from: FORMER, to: FORMAT };
    migrate::migrate(connection, formats, TABLES).map(|()| formats)
}

/// Begins a restore: creates or empties the tables. No other process opens them until the restore ends.
pub(super) fn begin_restore(connection: &mut Connection) -> Result<(), StatementFault> {
    match format(connection)? {
        None => create(connection, UNFINISHED),
        Some(UNFINISHED) => {
            connection.run("TRUNCATE @access, @run, @branch, @match")?;
            migrate::require_tables(connection, TABLES)?;
            connection.run(notes::TABLE)?;
            connection.run("TRUNCATE @note")
        }
        Some(FORMAT) => {
            const CLAIM: &str =
                "UPDATE @meta SET format = $2 WHERE format = $1 AND NOT EXISTS (SELECT FROM @match)";
            let claimed = connection.execute(CLAIM, &[&FORMAT, &UNFINISHED])?;
            if claimed == 1 {
                Ok(())
            } else {
                Err(refused("its schema holds matches: name another with `schema=NAME`"))
            }
        }
        Some(format) => require_format(format),
    }
}

pub(super) fn end_restore(connection: &mut Connection) -> Result<(), StatementFault> {
    let sql = "UPDATE @meta SET format = $1 WHERE format = $2";
    connection.execute(sql, &[&FORMAT, &UNFINISHED]).map(|_| ())
}

fn create(connection: &mut Connection, format: i32) -> Result<(), StatementFault> {
    connection.make_schema()?;
    connection.run(TABLES)?;
    let sql = "INSERT INTO @meta (one, format, store) VALUES (true, $1, $2) ON CONFLICT DO NOTHING";
    connection.execute(sql, &[&format, &new_id()?]).map(|_| ())
}

fn format(connection: &mut Connection) -> Result<Option<i32>, StatementFault> {
    let there = connection.query("SELECT to_regclass('@meta') IS NOT NULL", &[])?;
    if !there.iter().any(|row| row.get::<_, bool>(0)) {
        return Ok(None);
    }
    let rows = connection.query("SELECT format FROM @meta", &[])?;
    let format = rows.first().map(|row| row.try_get(0)).transpose();
    format.map_err(|_| refused("the table `meta` of its schema is of another program: name another schema"))
}

fn require_format(format: i32) -> Result<(), StatementFault> {
    match format {
        FORMAT => Ok(()),
        UNFINISHED => {
            Err(refused("a restore into its schema is under way or broke off: restore again, or wait for it"))
        }
        FORMER => Err(refused(&format!(
            "its tables have the format {FORMER}, this build reads {FORMAT}: stop all services of older builds, then run \
             `turnfold store upgrade` with its URL"
        ))),
        other => Err(refused(&format!(
            "its tables have the format {other}, this build knows {FORMAT}: use the build that made them"
        ))),
    }
}

fn refused(reason: &str) -> StatementFault {
    StatementFault::Store(StoreError::Database { reason: reason.to_owned() })
}

/// Returns the number of a branch that is created with a new id (FL-8): 63 random bits, but not 0. No number is used
/// twice. `main` is created with the id of its match.
pub(super) fn branch_number(id: Uuid) -> u64 {
    (id.as_u64_pair().0 >> 1).max(1)
}

pub(super) fn new_id() -> Result<Uuid, StoreError> {
    let mut bytes = [0; 16];
    let filled = getrandom::fill(&mut bytes);
    filled.map_err(|error| StoreError::Database {
        reason: format!("the operating system has no chance: {error}"),
    })?;
    Ok(Uuid::from_bytes(bytes))
}
