//! Appending: numbered entries, an expected head, and keys that make repeating harmless.

use std::ops::RangeInclusive;

use super::branch_state::BranchState;
use super::committer::Order;
use super::ledger::{Ledger, Staged};
use super::store::Store;
use crate::entry::{NewEntry, Seq};
use crate::error::StoreError;
use crate::layout::record::IdempotencyRecord;
use crate::layout::{key, record};
use crate::names::{BranchName, IdempotencyKey, MatchName};
use crate::reader::records::Records;

/// Where appended entries are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Appended {
    /// The number of the first.
    pub first: Seq,
    /// The number of the last, which was the branch's head when they were appended.
    pub last: Seq,
    /// Whether an earlier append with the same idempotency key did it, and this one nothing.
    pub repeated: bool,
}

/// What is asked of the committer.
struct Append {
    match_name: MatchName,
    branch: BranchName,
    expected_head: Seq,
    entries: Vec<NewEntry>,
    idempotency_key: Option<IdempotencyKey>,
}

impl Store {
    /// Appends entries to a branch, all or none; when it returns they are durable.
    ///
    /// With an idempotency key that an earlier append of the same commands by the same seats to this branch had,
    /// nothing is appended and the earlier one's result is returned again, wherever the head is now. These keys belong
    /// to the branch they were used on: a branch that begins on it does not inherit them.
    ///
    /// # Errors
    /// [`StoreError::Conflict`] when the head is not `expected_head`; [`StoreError::IdempotencyKeyReused`] when the idempotency key
    /// was used for something else; [`StoreError::NothingToAppend`] and
    /// [`StoreError::TooLarge`] for unusable entries; [`StoreError::NoSuchMatch`], [`StoreError::NoSuchBranch`];
    /// [`StoreError::Full`] and [`StoreError::Failed`] when it cannot be made durable.
    pub fn append(
        &self,
        match_name: &MatchName,
        branch: &BranchName,
        expected_head: Seq,
        entries: Vec<NewEntry>,
        idempotency_key: Option<&IdempotencyKey>,
    ) -> Result<Appended, StoreError> {
        let (match_name, branch) = (match_name.clone(), branch.clone());
        if entries.is_empty() {
            return Err(StoreError::NothingToAppend { match_name, branch });
        }
        entries.iter().try_for_each(NewEntry::check_size)?;
        let branch_key = idempotency_key.cloned().map(|key| (match_name.clone(), branch.clone(), key));
        let append =
            Append { match_name, branch, expected_head, entries, idempotency_key: idempotency_key.cloned() };
        self.committer.perform(Order::Shared(branch_key), |ledger, staged| append.stage(ledger, staged))
    }

    /// Returns the entries that an append with this idempotency key brought to the branch.
    ///
    /// # Errors
    /// [`StoreError::NoSuchMatch`], [`StoreError::NoSuchBranch`], and those of reading.
    pub fn find_idempotency_key(
        &self,
        match_name: &MatchName,
        branch: &BranchName,
        idempotency_key: &IdempotencyKey,
    ) -> Result<Option<RangeInclusive<Seq>>, StoreError> {
        let line = self.records().find(match_name, branch)?;
        let found = find_idempotency_key(self.records(), line.branch.id, idempotency_key);
        let found = found.map_err(|error| line.within(error))?;
        // What lies behind the head is not acknowledged yet.
        Ok(found.filter(|found| found.last <= line.head.seq).map(|found| found.first..=found.last))
    }
}

/// Reads which entries an idempotency key stands for.
fn find_idempotency_key(
    records: &Records,
    branch_id: u64,
    idempotency_key: &IdempotencyKey,
) -> Result<Option<IdempotencyRecord>, StoreError> {
    let key = key::of_idempotency(branch_id, idempotency_key);
    let value = records.backend.get(&key)?;
    value.map(|value| record::read("an idempotency key", &key, &value)).transpose()
}

impl Append {
    fn stage(self, ledger: &mut Ledger, staged: &mut Staged) -> Result<Appended, StoreError> {
        let Self { match_name, branch, expected_head, entries, idempotency_key } = self;
        let names = (match_name, branch);
        if !ledger.branches.contains_key(&names) {
            let line = ledger.records.find(&names.0, &names.1)?;
            ledger.branches.insert(names.clone(), BranchState::load(&ledger.records, &line)?);
        }
        let state = ledger.branches.get_mut(&names).expect("it was there or has just been put there");
        if let Some(idempotency_key) = &idempotency_key {
            let earlier = find_idempotency_key(&ledger.records, state.id, idempotency_key);
            if let Some(earlier) = earlier.map_err(|error| error.within(&names.0, Some(&names.1)))? {
                return repeat(&ledger.records, names, earlier, &entries);
            }
        }
        let before = state.head;
        if before.seq != expected_head {
            let (match_name, branch) = names;
            return Err(StoreError::Conflict {
                match_name,
                branch,
                expected: expected_head,
                head: before.seq,
            });
        }
        staged.append(names, state, entries, idempotency_key.as_ref());
        staged.keep_head(state.id, before);
        let (first, last) = (before.seq + 1, state.head.seq);
        if let Some(idempotency_key) = &idempotency_key {
            let key = key::of_idempotency(state.id, idempotency_key);
            staged.put(key, &IdempotencyRecord { first, last });
        }
        Ok(Appended { first, last, repeated: false })
    }
}

/// Returns the result of an earlier append with the same idempotency key, if it appended the same.
fn repeat(
    records: &Records,
    (match_name, branch): (MatchName, BranchName),
    IdempotencyRecord { first, last }: IdempotencyRecord,
    entries: &[NewEntry],
) -> Result<Appended, StoreError> {
    let line = records.find(&match_name, &branch)?;
    let mut stored = line.entries(records, first..=last)?;
    let mut asked = entries.iter();
    let same = loop {
        match (stored.next().transpose()?, asked.next()) {
            (Some(stored), Some(asked)) if (stored.seat, &stored.command) == (asked.seat, &asked.command) => {
            }
            (stored, asked) => break stored.is_none() && asked.is_none(),
        }
    };
    if same {
        Ok(Appended { first, last, repeated: true })
    } else {
        Err(StoreError::IdempotencyKeyReused { match_name, branch, first, last })
    }
}
