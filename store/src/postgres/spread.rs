//! Stores whose runs are spread over the servers of a Citus cluster (FL-35). Runs are distributed by branch, so that one server
//! does all work for a branch. The other tables are copied whole to every server.
//!
//! On a single server, statements join each branch with its last run, and insert what they select. Spread tables refuse such
//! joins, and carry out such inserts on all servers at once. So here branches are read by number and appended by plain values.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use tokio_postgres::Row;
use uuid::Uuid;

use super::connect::{Bound, Connection};
use super::engine::match_info;
use super::fault::StatementFault;
use super::held::Names;
use super::notes;
use super::read::{Ask, column, get, name, number};
use super::run::{Run, Runs};
use super::schema;
use crate::entry::Seq;
use crate::error::StoreError;
use crate::names::{BranchName, MatchName};
use crate::reader::store_report::MatchInfo;

/// The distribution of a spread store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct SpreadReport {
    /// Whether this call spread it; `false` if it was spread before.
    pub is_new: bool,
    /// The number of parts of its runs.
    pub shards: u64,
    /// The number of servers that hold these parts.
    pub nodes: u64,
}

/// How often to ask again for a branch that changed between two statements.
const ROUNDS_MAX: u32 = 10;

/// Returns `true` if the runs are spread. Only servers with Citus can be asked.
pub(super) fn is_spread(connection: &mut Connection) -> Result<bool, StatementFault> {
    const IS_SPREAD: &str = "SELECT EXISTS (SELECT FROM pg_catalog.pg_dist_partition \
         WHERE logicalrelid = to_regclass('@run') AND partmethod = 'h')";
    let rows = connection.query(IS_SPREAD, &[])?;
    Ok(rows.first().is_some_and(|row| row.get(0)))
}

/// Spreads the runs, and copies all other tables to every server.
pub(super) fn spread(connection: &mut Connection) -> Result<SpreadReport, StatementFault> {
    const CAN_SPREAD: &str = "SELECT EXISTS (SELECT FROM pg_extension WHERE extname = 'citus')";
    const BEGIN: &str =
        "BEGIN; SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0";
    const SPREAD: &str = "SELECT create_reference_table('@meta'); SELECT create_reference_table('@match'); \
         SELECT create_reference_table('@branch'); SELECT create_reference_table('@access'); \
         SELECT create_reference_table('@note'); SELECT create_distributed_table('@run', 'branch', colocate_with => 'none'); COMMIT";
    const COUNT: &str = "SELECT count(DISTINCT s.shardid), count(DISTINCT p.groupid) FROM pg_dist_shard s \
         JOIN pg_dist_placement p ON p.shardid = s.shardid WHERE s.logicalrelid = to_regclass('@run')";
    schema::require(connection)?;
    let can_spread = connection.query(CAN_SPREAD, &[])?;
    if !can_spread.first().is_some_and(|row| row.get(0)) {
        let reason = "its database has no extension `citus`, which spreads tables: create it on every node, and add the \
                      nodes by `citus_add_node`";
        return Err(StatementFault::Store(StoreError::Database { reason: reason.to_owned() }));
    }
    let is_new = !connection.is_spread();
    if is_new {
        connection.run(BEGIN)?;
        // A store made by an earlier build may lack this table.
        connection.run(notes::TABLE)?;
        connection.run(SPREAD)?;
    }
    let rows = connection.query(COUNT, &[])?;
    let Some(row) = rows.first() else {
        return Err(StatementFault::Store(StoreError::damaged("its tables are not there")));
    };
    Ok(SpreadReport { is_new, shards: number(row, 0)?, nodes: number(row, 1)? })
}

/// Returns the branch with a number if it has these names, with its head, as of one moment of the server that has its runs.
const BY_NUMBER: &str = "SELECT m.id, m.genesis, (SELECT count(*) FROM @branch c WHERE c.match = m.id), b.no, b.name, b.parent, \
     p.name, b.at, b.before, h.last, h.link, m.module FROM @match m JOIN @branch b ON b.match = m.id AND b.name = $2 \
     LEFT JOIN @branch p ON p.match = b.match AND p.no = b.parent \
     LEFT JOIN (SELECT r.last, r.link FROM @run r WHERE r.branch = $3 ORDER BY r.first DESC LIMIT 1) h ON true \
     WHERE m.name = $1 AND b.no = $3";

fn by_number(
    ask: &impl Ask,
    match_name: &MatchName,
    branch: &BranchName,
    number: i64,
) -> Result<Vec<Row>, StoreError> {
    ask.rows(BY_NUMBER, &[&match_name.as_str(), &branch.as_str(), &number], None)
}

fn changing(match_name: &MatchName) -> StoreError {
    let reason = format!("branches of `{match_name}` were deleted or renamed while they were read");
    StoreError::Unavailable { reason, maybe: false }
}

pub(super) fn branch(ask: &impl Ask, names: &Names) -> Result<Vec<Row>, StoreError> {
    const NUMBER: &str = "SELECT m.id, m.genesis, (SELECT count(*) FROM @branch c WHERE c.match = m.id), b.no, m.module \
         FROM @match m LEFT JOIN @branch b ON b.match = m.id AND b.name = $2 WHERE m.name = $1";
    let hint = ask.held().and_then(|held| held.hint(names));
    if let Some((id, _)) = hint {
        let rows = by_number(ask, &names.0, &names.1, id.branch.cast_signed())?;
        if !rows.is_empty() {
            return Ok(rows);
        }
    }
    for _ in 0..ROUNDS_MAX {
        let rows = ask.rows(NUMBER, &[&names.0.as_str(), &names.1.as_str()], None)?;
        let Some(row) = rows.first() else { return Ok(rows) };
        let Some(number) = get::<Option<i64>>(row, 3)? else { return Ok(rows) };
        let rows = by_number(ask, &names.0, &names.1, number)?;
        if !rows.is_empty() {
            return Ok(rows);
        }
    }
    Err(changing(&names.0))
}

/// Lists the branches of a match, each as of one moment of its server.
pub(super) fn branches(ask: &impl Ask, match_name: &MatchName) -> Result<Vec<Row>, StoreError> {
    const NUMBERS: &str = "SELECT m.id, m.genesis, (SELECT count(*) FROM @branch c WHERE c.match = m.id), b.no, b.name, m.module \
         FROM @match m LEFT JOIN @branch b ON b.match = m.id WHERE m.name = $1 ORDER BY b.name";
    for _ in 0..ROUNDS_MAX {
        let named = ask.rows(NUMBERS, &[&match_name.as_str()], None)?;
        let mut rows = Vec::with_capacity(named.len());
        for row in &named {
            let Some(number) = get::<Option<i64>>(row, 3)? else { return Ok(named) };
            let found = by_number(ask, match_name, &name(row, 4)?, number)?;
            if found.is_empty() {
                break;
            }
            rows.extend(found);
        }
        if rows.len() == named.len() {
            return Ok(rows);
        }
        // A backup lists the branches before it reads anything else.
        ask.renew()?;
    }
    Err(changing(match_name))
}

/// Returns the last entry of each branch that has runs; all servers are asked.
fn last_entries(ask: &impl Ask, branches: &[i64]) -> Result<BTreeMap<i64, Seq>, StoreError> {
    // `LAST` uses the index from a branch's first run on. A damaged branch may lack that run, so `ANY` finds its last entry.
    const LAST: &str = "SELECT z.branch, h.last FROM @run z JOIN @branch b ON b.no = z.branch AND z.first = b.at + 1 \
         JOIN LATERAL (SELECT r.last FROM @run r WHERE r.branch = z.branch ORDER BY r.first DESC LIMIT 1) h ON true \
         WHERE z.branch = ANY($1)";
    const ANY: &str = "SELECT branch, max(last) FROM @run WHERE branch = ANY($1) GROUP BY branch";
    let mut last = BTreeMap::new();
    for sql in [LAST, ANY] {
        let left: Vec<i64> = branches.iter().filter(|branch| !last.contains_key(*branch)).copied().collect();
        if left.is_empty() {
            break;
        }
        for row in ask.rows(sql, &[&left], None)? {
            last.insert(get::<i64>(&row, 0)?, number(&row, 1)?);
        }
    }
    Ok(last)
}

pub(super) fn matches_after(ask: &impl Ask, last: &str) -> Result<Vec<MatchInfo>, StoreError> {
    const MATCHES: &str = "SELECT m.id, m.genesis, (SELECT count(*) FROM @branch c WHERE c.match = m.id), b.no, m.name, m.module \
         FROM @match m JOIN @branch b ON b.match = m.id AND b.name = 'main' WHERE m.name > $1 ORDER BY m.name LIMIT 256";
    let rows = ask.rows(MATCHES, &[&last], None)?;
    let numbers = rows.iter().map(|row| get::<i64>(row, 3)).collect::<Result<Vec<_>, _>>()?;
    let heads = last_entries(ask, &numbers)?;
    let mut infos = Vec::with_capacity(rows.len());
    for (row, number) in rows.iter().zip(&numbers) {
        infos.push(match_info(row, heads.get(number).copied().unwrap_or_default())?);
    }
    Ok(infos)
}

/// Returns the heads of the branches that still have these names, by their indexes in the list.
pub(super) fn heads(ask: &impl Ask, named: Bound<'_>) -> Result<BTreeMap<i64, Seq>, StoreError> {
    const NAMED: &str = "SELECT n.index, n.branch, b.at \
         FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[]) AS n(index, branch, match_name, branch_name) \
         JOIN @branch b ON b.no = n.branch AND b.name = n.branch_name \
         JOIN @match m ON m.id = b.match AND m.name = n.match_name";
    let rows = ask.rows(NAMED, named, None)?;
    let numbers = rows.iter().map(|row| get::<i64>(row, 1)).collect::<Result<Vec<_>, _>>()?;
    let last = last_entries(ask, &numbers)?;
    let mut heads = BTreeMap::new();
    for (row, branch) in rows.iter().zip(&numbers) {
        let head = last.get(branch).map_or_else(|| number(row, 2), |last| Ok(*last))?;
        heads.insert(get::<i64>(row, 0)?, head);
    }
    Ok(heads)
}

/// Appends runs (FL-36), each by a query and plain values, which the server of its branch carries out. Returns the attempts
/// that succeeded; their runs are durable.
pub(super) fn insert(
    connection: &mut Connection,
    rows: &[(&Runs, &Run)],
) -> Result<BTreeSet<Uuid>, StatementFault> {
    const ENDS_THERE: &str = "SELECT b.no FROM @branch b JOIN @match m ON m.id = b.match AND m.name = $2 \
         LEFT JOIN (SELECT p.last, p.link FROM @run p WHERE p.branch = $1 ORDER BY p.first DESC LIMIT 1) h ON true \
         WHERE b.no = $1 AND b.name = $3 AND coalesce(h.last, b.at) = $4 AND coalesce(h.link, b.before) = $5";
    const VALUES: &str = "INSERT INTO @run (branch, first, last, key, attempt, before, link, records) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING";
    let mut inserted = BTreeSet::new();
    for (runs, run) in rows {
        let branch = runs.branch.cast_signed();
        let before = run.before.as_bytes().as_slice();
        let match_name = runs.names.0.as_str();
        let branch_name = runs.names.1.as_str();
        let asked: Bound<'_> = &[&branch, &match_name, &branch_name, &column(run.first - 1), &before];
        if connection.query(ENDS_THERE, asked)?.is_empty() {
            continue;
        }
        let link = run.link.as_bytes().as_slice();
        let records = run.records.as_slice();
        let values: Bound<'_> = &[
            &branch,
            &column(run.first),
            &column(run.last),
            &run.slot,
            &runs.attempt,
            &before,
            &link,
            &records,
        ];
        if connection.execute(VALUES, values)? == 1 {
            inserted.insert(runs.attempt);
        }
    }
    Ok(inserted)
}

/// Reserves the next entry of a branch within a transaction (FL-33).
pub(super) fn reserve(
    connection: &mut Connection,
    branch: i64,
    attempt: Uuid,
) -> Result<Vec<Row>, StatementFault> {
    const NEXT: &str = "SELECT coalesce(h.last, b.at) + 1 FROM @branch b \
         LEFT JOIN (SELECT p.last FROM @run p WHERE p.branch = $1 ORDER BY p.first DESC LIMIT 1) h ON true WHERE b.no = $1";
    const VALUES: &str = "INSERT INTO @run (branch, first, last, attempt, before, link, records) \
         VALUES ($1, $2, $2, $3, '', '', '') ON CONFLICT DO NOTHING RETURNING first";
    let rows = connection.query(NEXT, &[&branch])?;
    let Some(row) = rows.first() else { return Ok(Vec::new()) };
    connection.query(VALUES, &[&branch, &get::<i64>(row, 0)?, &attempt])
}

pub(super) const COUNT: &str = "SELECT b.branches, r.runs, r.entries, r.bytes, m.matches \
     FROM (SELECT count(*) AS branches FROM @branch) b, (SELECT count(*) AS matches FROM @match) m, \
     (SELECT count(*) AS runs, coalesce(sum(r.last - r.first + 1), 0)::bigint AS entries, \
     coalesce(sum(octet_length(r.records)), 0)::bigint AS bytes FROM @run r JOIN @branch o ON o.no = r.branch) r";

pub(super) const LARGEST: &str = "SELECT m.name, (SELECT count(*) FROM @branch c WHERE c.match = m.id), \
     coalesce(sum(r.entries), 0)::bigint AS entries, coalesce(sum(r.bytes), 0)::bigint \
     FROM @match m JOIN @branch b ON b.match = m.id LEFT JOIN (SELECT branch, sum(last - first + 1) AS entries, \
     sum(octet_length(records)) AS bytes FROM @run GROUP BY branch) r ON r.branch = b.no \
     GROUP BY m.id, m.name ORDER BY entries DESC, m.name LIMIT $1";
