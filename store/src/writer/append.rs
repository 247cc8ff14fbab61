//! Appending: numbered entries, an expected head, and keys that make repeating harmless.

use std::ops::RangeInclusive;

use turnfold_core::Digest;

use super::committer::{BranchKey, Done, Last, Staged, Work, Writer};
use crate::backend::{Change, Place};
use crate::entry::{NewEntry, Seq};
use crate::error::StoreError;
use crate::layout::chain::Linker;
use crate::layout::page::{RECORDS_MAX, Unsealed};
use crate::layout::record::{HeadRecord, KeyRecord};
use crate::layout::{key, record};
use crate::names::{BranchName, IdempotencyKey, MatchName};
use crate::open::{Shared, Store};

/// Where appended entries are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Appended {
    /// The number of the first.
    pub first: Seq,
    /// The number of the last, which was the branch's head when they were appended.
    pub last: Seq,
    /// Whether an earlier append with the same key did it, and this one nothing.
    pub repeated: bool,
}

/// A request to append.
pub(crate) struct Append {
    pub(crate) match_name: MatchName,
    pub(crate) branch: BranchName,
    pub(crate) expected_head: Seq,
    pub(crate) entries: Vec<NewEntry>,
    pub(crate) key: Option<IdempotencyKey>,
}

impl Append {
    pub(crate) fn branch_key(&self) -> Option<BranchKey> {
        self.key.clone().map(|key| (self.match_name.clone(), self.branch.clone(), key))
    }
}

impl Store {
    /// Appends entries to a branch, all or none; when it returns they are durable.
    ///
    /// With a `key` that an earlier append of the same commands by the same seats to this branch had, nothing is
    /// appended and the earlier one's result is given again, wherever the head is now. Keys belong to the branch they
    /// were used on: a branch that begins on it does not inherit them.
    ///
    /// # Errors
    /// [`StoreError::Conflict`] when the head is not `expected_head`; [`StoreError::KeyReused`] when the key was used
    /// for something else; [`StoreError::NothingToAppend`] and
    /// [`StoreError::TooLarge`] for unusable entries; [`StoreError::NoSuchMatch`], [`StoreError::NoSuchBranch`];
    /// [`StoreError::Full`] and [`StoreError::Failed`] when it cannot be made durable.
    pub fn append(
        &self,
        match_name: &MatchName,
        branch: &BranchName,
        expected_head: Seq,
        entries: Vec<NewEntry>,
        key: Option<&IdempotencyKey>,
    ) -> Result<Appended, StoreError> {
        let (match_name, branch) = (match_name.clone(), branch.clone());
        if entries.is_empty() {
            return Err(StoreError::NothingToAppend { match_name, branch });
        }
        entries.iter().try_for_each(NewEntry::check_size)?;
        let append = Append { match_name, branch, expected_head, entries, key: key.cloned() };
        match self.committer.perform(Work::Append(append))? {
            Done::Appended(appended) => Ok(appended),
            Done::Changed => unreachable!("the committer answers an append with its result"),
        }
    }

    /// Gives the entries that an append with this key brought to the branch.
    ///
    /// # Errors
    /// [`StoreError::NoSuchMatch`], [`StoreError::NoSuchBranch`], and those of reading.
    pub fn find_key(
        &self,
        match_name: &MatchName,
        branch: &BranchName,
        key: &IdempotencyKey,
    ) -> Result<Option<RangeInclusive<Seq>>, StoreError> {
        let (_, found, head) = self.shared.find(match_name, branch)?;
        let record = self.shared.find_key(found.id, key);
        let record = record.map_err(|error| error.within(match_name, Some(branch)))?;
        // What lies behind the head is not acknowledged yet.
        Ok(record.filter(|record| record.last <= head.seq).map(|record| record.first..=record.last))
    }
}

impl Shared {
    pub(crate) fn find_key(
        &self,
        branch_id: u64,
        key: &IdempotencyKey,
    ) -> Result<Option<KeyRecord>, StoreError> {
        let key = key::of_idempotency(branch_id, key);
        let value = self.backend.get(&key)?;
        value.map(|value| record::read("an idempotency key", &key, &value)).transpose()
    }
}

impl Shared {
    /// Gives the result of an earlier append with the same key, if it appended the same.
    fn earlier_result(
        &self,
        (match_name, branch): (MatchName, BranchName),
        KeyRecord { first, last }: KeyRecord,
        entries: &[NewEntry],
    ) -> Result<Appended, StoreError> {
        let (found_match, found, head) = self.find(&match_name, &branch)?;
        let mut stored = self.entries(&match_name, &found_match, (&branch, &found, head), first..=last)?;
        let mut asked = entries.iter();
        let same = loop {
            match (stored.next().transpose()?, asked.next()) {
                (Some(stored), Some(asked))
                    if (stored.seat, &stored.command) == (asked.seat, &asked.command) => {}
                (stored, asked) => break stored.is_none() && asked.is_none(),
            }
        };
        if same {
            Ok(Appended { first, last, repeated: true })
        } else {
            Err(StoreError::KeyReused { match_name, branch, first, last })
        }
    }
}

/// What the committer knows of a branch.
pub(crate) struct BranchState {
    pub(crate) id: u64,
    pub(crate) head: HeadRecord,
    pub(crate) unsealed: Unsealed,
}

impl BranchState {
    /// A branch without entries of its own.
    pub(crate) fn new(id: u64, forked_at: Seq, link: Digest) -> Self {
        let unsealed = Unsealed { first: forked_at + 1, before: link, records: Vec::new() };
        Self { id, head: HeadRecord { seq: forked_at, link }, unsealed }
    }

    /// Numbers entries, adds them at the end and gives the changes that store them.
    pub(crate) fn extend(&mut self, entries: Vec<NewEntry>, key: Option<&IdempotencyKey>) -> Vec<Change> {
        let linker = Linker::new();
        let mut changes = Vec::new();
        let fills_pages = entries.len() >= RECORDS_MAX;
        let tails_before = if fills_pages { self.tail_keys() } else { Vec::new() };
        for entry in entries {
            let seq = self.head.seq + 1;
            let bytes = entry.number(seq, key).encode();
            self.head = HeadRecord { seq, link: linker.link(&self.head.link, &bytes) };
            if !fills_pages {
                changes.push(record::put_bytes(key::of_tail(self.id, seq), bytes.clone()));
            }
            self.unsealed.records.push(bytes);
        }
        if fills_pages {
            changes.extend(self.unsealed.cut_pages(self.id));
            changes.extend(tails_before.into_iter().map(|key| Change { key, value: None }));
            let rest = self.tail_keys().into_iter().zip(&self.unsealed.records);
            changes.extend(rest.map(|(key, bytes)| record::put_bytes(key, bytes.clone())));
        }
        changes.push(record::put(key::of_head(self.id), &self.head));
        changes
    }

    /// Gives the changes that move the first entries from tails to pages.
    pub(crate) fn seal(&mut self) -> Vec<Change> {
        let tails = self.tail_keys();
        let pages = self.unsealed.cut_pages(self.id);
        self.sealed(pages, tails)
    }

    /// Gives the changes that move all entries from tails to pages.
    pub(crate) fn seal_all(&mut self) -> Vec<Change> {
        let tails = self.tail_keys();
        let mut pages = self.unsealed.cut_pages(self.id);
        pages.extend(self.unsealed.cut_rest(self.id));
        self.sealed(pages, tails)
    }

    /// Adds to new pages that the tails on them go.
    fn sealed(&self, mut changes: Vec<Change>, tails: Vec<Vec<u8>>) -> Vec<Change> {
        let sealed = tails.len() - self.unsealed.records.len();
        changes.extend(tails.into_iter().take(sealed).map(|key| Change { key, value: None }));
        changes
    }

    fn tail_keys(&self) -> Vec<Vec<u8>> {
        let seqs = self.unsealed.first..=self.head.seq;
        seqs.map(|seq| key::of_tail(self.id, seq)).collect()
    }
}

impl Writer {
    pub(crate) fn stage_append(
        &mut self,
        append: Append,
        staged: &mut Staged,
    ) -> Result<Appended, StoreError> {
        let branch_key = append.branch_key();
        let Append { match_name, branch, expected_head, entries, key } = append;
        let names = (match_name, branch);
        if !self.branches.contains_key(&names) {
            let state = self.shared.load_branch(&names.0, &names.1)?;
            self.branches.insert(names.clone(), state);
        }
        let state = self.branches.get_mut(&names).expect("it was there or has just been put there");
        if let Some(key) = &key
            && let Some(earlier) =
                self.shared.find_key(state.id, key).map_err(|error| error.within(&names.0, Some(&names.1)))?
        {
            return self.shared.earlier_result(names, earlier, &entries);
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
        staged.entries += entries.len() as u64;
        staged.changes.extend(state.extend(entries, key.as_ref()));
        let appended = Appended { first: before.seq + 1, last: state.head.seq, repeated: false };
        if let Some(key) = &key {
            let Appended { first, last, .. } = appended;
            staged.changes.push(record::put(key::of_idempotency(state.id, key), &KeyRecord { first, last }));
        }
        staged.keys.extend(branch_key);
        staged.heads_before.entry(state.id).or_insert(before);
        let (match_name, branch) = names.clone();
        staged.last = Last::At(Place { match_name, branch, seq: appended.last });
        staged.touched.push(names);
        Ok(appended)
    }
}
