//! The statement that appends (FL-11), in a form for each case.

use std::collections::BTreeSet;

use tokio_postgres::Row;
use tokio_postgres::types::ToSql;
use turnfold_core::Digest;
use uuid::Uuid;

use super::connect::Connection;
use super::fault::StatementFault;
use super::read::{column, get};
use super::run::{Run, Runs};
use super::spread;

macro_rules! insert {
    ($rows:literal) => {
        concat!(
            "INSERT INTO @run (branch, first, last, key, attempt, before, link, records) \
             SELECT n.branch, n.first, n.last, n.key, n.attempt, n.before, n.link, n.records FROM ",
            $rows,
            " AS n(branch, first, last, key, attempt, before, link, records, match_name, branch_name) \
             JOIN @branch b ON b.no = n.branch AND b.name = n.branch_name \
             JOIN @match m ON m.id = b.match AND m.name = n.match_name \
             LEFT JOIN LATERAL (SELECT p.last, p.link FROM @run p WHERE p.branch = n.branch \
             ORDER BY p.first DESC LIMIT 1) h ON true \
             WHERE coalesce(h.last, b.at) = n.first - 1 AND coalesce(h.link, b.before) = n.before \
             ORDER BY n.branch ON CONFLICT DO NOTHING RETURNING attempt"
        )
    };
}

/// FL-11: inserts each run that continues its branch, if the branch still has the name that the caller used. Returned attempts
/// are durable.
const INSERT: &str = insert!(
    "unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::uuid[], $6::bytea[], $7::bytea[], \
     $8::bytea[], $9::text[], $10::text[])"
);

/// The same for a single run. Without arrays it costs the server a quarter less.
const INSERT_ONE: &str = insert!(
    "(SELECT $1::bigint, $2::bigint, $3::bigint, $4::bigint, $5::uuid, $6::bytea, $7::bytea, $8::bytea, $9::text, \
     $10::text)"
);

/// FL-34: the same for a run that follows a known run. It costs the server half as much, because each row it depends on is found
/// by its primary key.
const INSERT_NEXT: &str = "INSERT INTO @run (branch, first, last, key, attempt, before, link, records) \
    SELECT $1::bigint, $2::bigint, $3::bigint, $4::bigint, $5::uuid, $6::bytea, $7::bytea, $8::bytea \
    FROM @run p, @branch b, @match m WHERE p.branch = $1 AND p.first = $11 AND p.last = $2 - 1 AND p.link = $6 \
    AND b.no = $1 AND b.name = $10 AND m.name = $9 AND m.id = b.match ON CONFLICT DO NOTHING RETURNING attempt";

/// MD-9: records the module of a branch's match, within the transaction that then appends the entries it judged.
/// Returns `false` if the branch is gone, or if another process recorded another module.
pub(super) fn record_module(
    connection: &mut Connection,
    branch: u64,
    module: &Digest,
) -> Result<bool, StatementFault> {
    const RECORD: &str = "UPDATE @match m SET module = $2 FROM @branch b WHERE b.no = $1 AND m.id = b.match \
                          AND (m.module IS NULL OR m.module = $2)";
    Ok(connection.execute(RECORD, &[&branch.cast_signed(), &module.as_bytes().as_slice()])? == 1)
}

pub(super) fn statement(
    connection: &mut Connection,
    rows: &[(&Runs, &Run)],
) -> Result<BTreeSet<Uuid>, StatementFault> {
    if connection.is_spread() {
        return spread::insert(connection, rows);
    }
    let inserted = match rows {
        [row] => insert_one(connection, row)?,
        rows => insert_all(connection, rows)?,
    };
    let attempts = inserted.iter().map(|row| get::<Uuid>(row, 0)).collect::<Result<_, _>>();
    Ok(attempts?)
}

/// FL-33: writes a run in place of a reserved row of this transaction. Returns `false` if the run does not continue its
/// branch, or if the match or branch no longer has its name.
pub(super) fn fill(
    connection: &mut Connection,
    reserved: Uuid,
    (runs, run): (&Runs, &Run),
) -> Result<bool, StatementFault> {
    const FILL: &str = "UPDATE @run r SET last = $3, key = $4, attempt = $5, before = $6, link = $7, records = $8 \
         FROM @branch b JOIN @match m ON m.id = b.match AND m.name = $9 \
         WHERE r.branch = $1 AND r.first = $2 AND r.attempt = $11 AND b.no = $1 AND b.name = $10 \
         AND coalesce((SELECT p.link FROM @run p WHERE p.branch = $1 AND p.first < $2 ORDER BY p.first DESC LIMIT 1), \
         b.before) = $6";
    let filled = connection.execute(
        FILL,
        &[
            &runs.branch.cast_signed(),
            &column(run.first),
            &column(run.last),
            &run.slot,
            &runs.attempt,
            &run.before.as_bytes().as_slice(),
            &run.link.as_bytes().as_slice(),
            &run.records.as_slice(),
            &runs.names.0.as_str(),
            &runs.names.1.as_str(),
            &reserved,
        ],
    )?;
    Ok(filled == 1)
}

fn insert_one(connection: &mut Connection, (runs, run): &(&Runs, &Run)) -> Result<Vec<Row>, StatementFault> {
    let branch = runs.branch.cast_signed();
    let first = column(run.first);
    let last = column(run.last);
    let before = run.before.as_bytes().as_slice();
    let link = run.link.as_bytes().as_slice();
    let records = run.records.as_slice();
    let match_name = runs.names.0.as_str();
    let branch_name = runs.names.1.as_str();
    let mut bound: Vec<&(dyn ToSql + Sync)> = vec![
        &branch,
        &first,
        &last,
        &run.slot,
        &runs.attempt,
        &before,
        &link,
        &records,
        &match_name,
        &branch_name,
    ];
    // Only an append of a single run directly follows the known run.
    let Some(after) = runs.after.filter(|after| *after < run.first && runs.all.len() == 1) else {
        return connection.query(INSERT_ONE, &bound);
    };
    let after = column(after);
    bound.push(&after);
    connection.query(INSERT_NEXT, &bound)
}

fn insert_all(connection: &mut Connection, rows: &[(&Runs, &Run)]) -> Result<Vec<Row>, StatementFault> {
    let mut branches = Vec::new();
    let mut firsts = Vec::new();
    let mut lasts = Vec::new();
    let mut slots = Vec::new();
    let mut attempts = Vec::new();
    let mut before = Vec::new();
    let mut links = Vec::new();
    let mut records = Vec::new();
    let mut match_names = Vec::new();
    let mut branch_names = Vec::new();
    for (runs, run) in rows {
        branches.push(runs.branch.cast_signed());
        firsts.push(column(run.first));
        lasts.push(column(run.last));
        slots.push(run.slot);
        attempts.push(runs.attempt);
        before.push(run.before.as_bytes().as_slice());
        links.push(run.link.as_bytes().as_slice());
        records.push(run.records.as_slice());
        match_names.push(runs.names.0.as_str());
        branch_names.push(runs.names.1.as_str());
    }
    connection.query(
        INSERT,
        &[
            &branches,
            &firsts,
            &lasts,
            &slots,
            &attempts,
            &before,
            &links,
            &records,
            &match_names,
            &branch_names,
        ],
    )
}
