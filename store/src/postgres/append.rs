//! Appends to a branch (FL-11): one statement inserts at its head. If it inserted nothing, this module finds out why.

use turnfold_core::Digest;
use uuid::Uuid;

use super::begun::KEYED_ENTRIES_MAX;
use super::engine::Fleet;
use super::held::{End, Names};
use super::keys::Slot;
use super::read::{Ask as _, column, get};
use super::run::{Runs, end_of, first_slot, pack};
use super::schema::new_id;
use crate::engine::{Append, EngineReader as _};
use crate::entry::Seq;
use crate::error::StoreError;
use crate::reader::branch::{BranchId, FoundMatch, Head};
use crate::reader::store_report::Appended;

/// How often an append is tried while the branch still ends where the append expects (FL-12).
const ROUNDS_MAX: u32 = 10;

enum Settled {
    /// The append's idempotency key is already recorded with the same entries.
    Repeated(Appended),
    /// The append can be tried again, with its key in this slot.
    Again(Option<i64>),
}

/// Returns the module of an append if the match has none recorded yet (MD-9).
pub(super) fn new_module(
    found_match: Option<&FoundMatch>,
    module: Option<Digest>,
) -> Result<Option<Digest>, StoreError> {
    let Some((found_match, module)) = found_match.zip(module) else { return Ok(None) };
    Ok(found_match.is_new_module(module)?.then_some(module))
}

impl Fleet {
    pub(super) fn append_runs(&self, append: &Append) -> Result<Appended, StoreError> {
        let names = (append.match_name.clone(), append.branch.clone());
        let attempt = new_id()?;
        // A restore makes small runs, but not of an append with a key: it is packed into as few runs as possible.
        let run_max = if append.idempotency_key.is_some() { usize::MAX } else { self.run_entries_max };
        let run_max = run_max.min(KEYED_ENTRIES_MAX);
        let mut slot = append.idempotency_key.as_ref().map(first_slot);
        for round in 0..ROUNDS_MAX {
            let is_asked = |id: &BranchId| append.expected_id.is_none_or(|asked| asked == *id);
            let hint = self.held().hint(&names);
            let hint = hint.filter(|(id, end)| is_asked(id) && end.head.seq == append.expected_head);
            // For an append with a module, the recorded module is always read.
            let (id, End { head, run: after }, found_match) =
                if let (Some((id, end)), None) = (hint, append.module) {
                    (id, end, None)
                } else {
                    let branch = self.reading.found_branch(&names.0, &names.1)?;
                    (BranchId::of(&branch), End { head: branch.head, run: None }, Some(branch.found_match))
                };
            if !is_asked(&id) {
                let (match_name, branch) = names;
                return Err(StoreError::NoSuchBranch { match_name, branch });
            }
            let head_expected = (head.seq == append.expected_head).then_some(head);
            if self.held().is_lost(id) {
                let branch = self.reading.found_branch(&names.0, &names.1)?;
                if BranchId::of(&branch) == id {
                    return Err(self.held().lose(&branch, head));
                }
                // By now another branch has this name.
                continue;
            }
            if let Some(head) = head_expected {
                let module = match new_module(found_match.as_ref(), append.module) {
                    Ok(module) => module,
                    Err(refused) => {
                        // If the key is already recorded, its entries are still the answer.
                        return match self.settle(append, &names, Some((id, head)))? {
                            Settled::Repeated(found) => Ok(found),
                            Settled::Again(_) => Err(refused),
                        };
                    }
                };
                let runs = pack(head, &append.entries, append.idempotency_key.as_ref().zip(slot), run_max);
                let end = end_of(&runs, head);
                let branch = id.branch;
                let last_run = runs.last().map(|run| run.first);
                let done = Appended { first: head.seq + 1, last: end.seq, repeated: false };
                // If the insert after the known run fails, later rounds insert at the head.
                let after = after.filter(|_| round == 0);
                let runs = Runs { names: names.clone(), branch, attempt, module, after, all: runs };
                let is_inserted = match self.reservations.take(&runs) {
                    Some(reserved) => reserved.fill(runs)?,
                    None => self.writers.write(runs)?,
                };
                if is_inserted || self.is_ours(id, head.seq + 1, attempt)? {
                    self.held().note(names, id, end, last_run);
                    return Ok(done);
                }
            }
            match self.settle(append, &names, head_expected.map(|head| (id, head)))? {
                Settled::Repeated(found) => return Ok(found),
                Settled::Again(free) => slot = free,
            }
        }
        let reason = format!("`{}@{}` was in use by too many", names.0, names.1);
        Err(StoreError::Unavailable { reason, maybe: false })
    }

    /// FL-20: returns `true` if the run at an entry has this attempt, so only the answer was lost.
    fn is_ours(
        &self,
        BranchId { branch, .. }: BranchId,
        first: Seq,
        attempt: Uuid,
    ) -> Result<bool, StoreError> {
        const AT: &str = "SELECT attempt FROM @run WHERE branch = $1 AND first = $2";
        let rows = self.reading.0.rows(AT, &[&branch.cast_signed(), &column(first)], None)?;
        rows.first().map_or(Ok(false), |row| Ok(get::<Uuid>(row, 0)? == attempt))
    }

    /// FL-12: finds out why an append was not inserted at a head.
    fn settle(
        &self,
        append: &Append,
        names: &Names,
        tried: Option<(BranchId, Head)>,
    ) -> Result<Settled, StoreError> {
        let reader = self.reading.as_ref();
        let branch = reader.found_branch(&names.0, &names.1)?;
        if append.expected_id.is_some_and(|asked| asked != BranchId::of(&branch)) {
            let (match_name, branch) = names.clone();
            return Err(StoreError::NoSuchBranch { match_name, branch });
        }
        let mut free = None;
        if let Some(key) = &append.idempotency_key {
            free = match reader.find_slot(&branch, key)? {
                Slot::Taken(keyed) => {
                    return branch.repeated(reader, keyed, &append.entries).map(Settled::Repeated);
                }
                Slot::Free(slot) => Some(slot),
            };
            // The runs of a deleted branch are removed after it (FL-15). So a key that was not found proves nothing if
            // the branch has been deleted since.
            let again = reader.found_branch(&names.0, &names.1)?;
            if BranchId::of(&again) != BranchId::of(&branch) {
                return Ok(Settled::Again(append.idempotency_key.as_ref().map(first_slot)));
            }
        }
        if branch.head.seq != append.expected_head {
            let expected = append.expected_head;
            let head = branch.head.seq;
            let (match_name, branch) = names.clone();
            return Err(StoreError::Conflict { match_name, branch, expected, head });
        }
        match tried {
            Some((id, head)) if id == BranchId::of(&branch) && head.link != branch.head.link => {
                Err(self.held().lose(&branch, head))
            }
            _ => Ok(Settled::Again(free)),
        }
    }
}
