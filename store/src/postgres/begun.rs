//! New branches with their first runs (FL-14).

use std::collections::BTreeSet;

use super::connect::Connection;
use super::fault::StatementFault;
use super::held::Names;
use super::insert::statement;
use super::read::{column, uuid};
use super::run::{Runs, end_of, first_slot, next_slot, pack};
use super::schema::{branch_number, new_id};
use crate::engine::{InitialBranch, KeyedBatch};
use crate::error::StoreError;
use crate::names::MatchName;
use crate::reader::branch::{EngineMatchId, Head};

/// The maximum number of entries of a run with an idempotency key, here and in an append.
pub(super) const KEYED_ENTRIES_MAX: usize = 4096;

pub(super) struct Begun {
    pub(super) names: Names,
    match_id: EngineMatchId,
    /// The number of the branch.
    pub(super) branch: u64,
    /// The number of the parent.
    parent: Option<u64>,
    before: Head,
    appends: Vec<Runs>,
    pub(super) end: Head,
}

impl Begun {
    /// Packs the first entries of a branch. Each batch becomes an append of its own, so that its idempotency key can be
    /// found.
    pub(super) fn of(
        branch: InitialBranch,
        (match_name, match_id): (&MatchName, EngineMatchId),
        parent: Option<u64>,
        run_entries_max: usize,
    ) -> Result<Self, StoreError> {
        let InitialBranch { name, from, before, batches } = branch;
        let names = (match_name.clone(), name);
        let branch = branch_number(if from.is_none() { uuid(match_id) } else { new_id()? });
        let mut end = before;
        let mut appends = Vec::new();
        let mut taken = BTreeSet::new();
        for KeyedBatch { idempotency_key, entries } in batches {
            let slot = idempotency_key.as_ref().map(|key| {
                let mut slot = first_slot(key);
                while !taken.insert(slot) {
                    slot = next_slot(slot);
                }
                slot
            });
            let entries_max = if slot.is_some() { KEYED_ENTRIES_MAX } else { run_entries_max };
            let runs = pack(end, &entries, idempotency_key.as_ref().zip(slot), entries_max);
            end = end_of(&runs, end);
            let attempt = new_id()?;
            appends.push(Runs {
                names: names.clone(),
                branch,
                attempt,
                module: None,
                after: None,
                all: runs,
            });
        }
        Ok(Self { names, match_id, branch, parent, before, appends, end })
    }
}

/// Inserts a branch and its first runs, within a transaction (FL-14).
pub(super) fn begin(connection: &mut Connection, begun: &Begun) -> Result<(), StatementFault> {
    const BRANCH: &str =
        "INSERT INTO @branch (no, match, parent, at, name, before) VALUES ($1, $2, $3, $4, $5, $6)";
    let parent = begun.parent.map(u64::cast_signed);
    let bound: [&(dyn tokio_postgres::types::ToSql + Sync); 6] = [
        &begun.branch.cast_signed(),
        &uuid(begun.match_id),
        &parent,
        &column(begun.before.seq),
        &begun.names.1.as_str(),
        &begun.before.link.as_bytes().as_slice(),
    ];
    connection.execute(BRANCH, &bound)?;
    for runs in &begun.appends {
        for run in &runs.all {
            if statement(connection, &[(runs, run)])?.is_empty() {
                return Err(StatementFault::Again("a branch was changed while it was made".to_owned()));
            }
        }
    }
    Ok(())
}
