//! The ledger: what the committer knows of the store, and what it is about to write.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

use super::branch_state::BranchState;
use crate::entry::NewEntry;
use crate::error::StoreError;
use crate::local::backend::{EntryRef, RecordChange, Watermark};
use crate::local::layout::page::RECORDS_MIN;
use crate::local::layout::record::{GoneRecord, MatchRecord, StoreRecord};
use crate::local::layout::{key, record};
use crate::local::reader::records::Records;
use crate::names::{BranchName, IdempotencyKey, MatchName};
use crate::reader::found::{FoundMatch, Head};

/// Enough changes, and bytes of them, for one flush: what is more makes it no cheaper.
const CHANGES_MAX: usize = 4096;
const BYTES_MAX: usize = 128 * 1024;

/// The most branches whose state is kept; beyond it all are read again when they are written to.
const BRANCHES_MAX: usize = 4096;

/// A match's name and a branch's.
type Names = (MatchName, BranchName);

/// What waits for one flush.
#[derive(Default)]
pub(crate) struct Staged {
    changes: Vec<RecordChange>,
    /// The entries appended by them.
    entries: u64,
    /// The branches appended to and their heads before.
    heads_before: BTreeMap<u64, Head>,
    pub(crate) touched: Vec<Names>,
    last: Last,
}

/// Where the branch written to last ends after a commit.
#[derive(Debug, Default)]
enum Last {
    /// Where it did before.
    #[default]
    Unchanged,
    At(EntryRef),
    /// It was deleted.
    Nowhere,
}

impl Staged {
    pub(crate) fn is_full(&self) -> bool {
        let bytes = |change: &RecordChange| change.key.len() + change.value.as_ref().map_or(0, Vec::len);
        self.changes.len() >= CHANGES_MAX || self.changes.iter().map(bytes).sum::<usize>() >= BYTES_MAX
    }

    /// Writes a record.
    pub(crate) fn put(&mut self, key: Vec<u8>, record: &impl Serialize) {
        self.changes.push(record::put(key, record));
    }

    /// Writes a match's record, with so many branches.
    pub(crate) fn put_match(&mut self, of: &FoundMatch, branches: u64) {
        self.put(key::of_match(&of.name), &MatchRecord { id: of.number(), branches, genesis: &of.genesis });
    }

    /// Removes a record.
    pub(crate) fn remove(&mut self, key: Vec<u8>) {
        self.changes.push(RecordChange { key, value: None });
    }

    /// Appends entries to a branch, which is then the one written to last.
    pub(crate) fn append(
        &mut self,
        (match_name, branch): Names,
        state: &mut BranchState,
        entries: Vec<NewEntry>,
        idempotency_key: Option<&IdempotencyKey>,
    ) {
        self.entries += entries.len() as u64;
        self.changes.extend(state.extend(entries, idempotency_key));
        self.touched.push((match_name.clone(), branch.clone()));
        self.write_last(EntryRef { match_name, branch, seq: state.head.seq });
    }

    /// Lets readers see this head of a branch until the commit is durable.
    pub(crate) fn keep_head(&mut self, branch_id: u64, head: Head) {
        self.heads_before.entry(branch_id).or_insert(head);
    }

    /// Notes where the branch written to last ends.
    pub(crate) fn write_last(&mut self, place: EntryRef) {
        self.last = Last::At(place);
    }

    /// Notes that the branch written to last goes.
    pub(crate) fn forget_last(&mut self) {
        self.last = Last::Nowhere;
    }
}

/// The state of the committer's thread.
pub(crate) struct Ledger {
    pub(crate) records: Arc<Records>,
    /// The store record as it was last written, except that `marked` may be newer.
    pub(crate) record: StoreRecord,
    pub(crate) branches: BTreeMap<Names, BranchState>,
    /// Whether anything was committed since the store was opened.
    has_committed: bool,
    /// What failed, after which nothing is written any more.
    failed: Option<StoreError>,
}

impl Ledger {
    pub(crate) fn new(records: Arc<Records>, record: StoreRecord) -> Self {
        Self { records, record, branches: BTreeMap::new(), has_committed: false, failed: None }
    }

    /// Requires that nothing has failed, before something more is staged.
    pub(crate) fn require_working(&mut self, staged: &Staged) -> Result<(), StoreError> {
        if let Some(failed) = &self.failed {
            return Err(failed.repeated());
        }
        if self.branches.len() > BRANCHES_MAX && staged.changes.is_empty() {
            self.branches.clear();
        }
        Ok(())
    }

    /// Takes the next ids, so many of them.
    pub(crate) fn take_ids(&mut self, count: u64) -> u64 {
        let first = self.record.next_id;
        self.record.next_id += count;
        first
    }

    /// Notes that a name goes in the next commit.
    pub(crate) fn stage_gone(&self, id: u64, record: &GoneRecord, staged: &mut Staged) {
        staged.put(key::of_gone(id, self.record.now.commits + 1), record);
    }

    /// Makes what is staged durable.
    pub(crate) fn commit(&mut self, staged: Staged) -> Result<(), StoreError> {
        let Staged { changes, entries, heads_before, last, .. } = staged;
        if changes.is_empty() {
            return Ok(());
        }
        let last = match last {
            Last::Unchanged => self.record.now.last.clone(),
            Last::At(place) => Some(place),
            Last::Nowhere => None,
        };
        let now = self.record.now.after(&changes, entries, last);
        self.persist(changes, now, heads_before).inspect_err(|error| self.fail(error))
    }

    fn persist(
        &mut self,
        mut changes: Vec<RecordChange>,
        now: Watermark,
        heads_before: BTreeMap<u64, Head>,
    ) -> Result<(), StoreError> {
        let next = StoreRecord { now, ..self.record.clone() };
        changes.push(record::put(key::STORE.to_vec(), &next));
        self.records.hold_back(heads_before);
        self.records.backend.commit(changes).map_err(|error| unsettled(error.into()))?;
        self.records.acknowledge_all();
        self.record = next;
        self.has_committed = true;
        Ok(())
    }

    /// Moves entries that fill pages from tails to pages. Should it be lost, the tails are still there.
    pub(crate) fn seal(&mut self, touched: Vec<Names>) {
        if self.failed.is_some() {
            return;
        }
        let mut changes = Vec::new();
        for names in touched {
            if let Some(state) = self.branches.get_mut(&names).filter(|state| state.unsealed.fills_a_page()) {
                changes.extend(state.seal());
            }
        }
        if changes.is_empty() {
            return;
        }
        let written = self.records.backend.write(&changes).map_err(StoreError::from);
        if let Err(error) = written.and_then(|()| self.mark()) {
            self.fail(&error);
        }
    }

    /// Moves what only the journal holds to where it stays, before the next commits have to wait for that.
    ///
    /// The database writes a tail several times, together with its neighbors. So what fills no page is sealed too, where
    /// it is worth one.
    pub(crate) fn settle(&mut self) {
        if self.failed.is_some() || !self.records.backend.wants_flush() {
            return;
        }
        let (mut changes, mut bytes) = (Vec::new(), 0);
        for state in self.branches.values_mut().filter(|state| state.unsealed.records.len() >= RECORDS_MIN) {
            if bytes >= BYTES_MAX {
                break;
            }
            let sealed = state.seal_all();
            bytes += sealed.iter().filter_map(|change| change.value.as_ref()).map(Vec::len).sum::<usize>();
            changes.extend(sealed);
        }
        let backend = &self.records.backend;
        match backend.write(&changes).and_then(|()| backend.flush()).map_err(StoreError::from) {
            // The next commit that needs room says so to whoever asked for it.
            Ok(()) | Err(StoreError::Full { .. }) => {}
            Err(error) => self.fail(&error),
        }
    }

    fn mark(&mut self) -> Result<(), StoreError> {
        self.records.backend.set_watermark(&self.record.now)?;
        self.record.marked = self.record.now.clone();
        Ok(())
    }

    /// Brings the watermark up to date; the last thing before the store is closed.
    pub(crate) fn finish(&mut self) -> Result<(), StoreError> {
        if let Some(failed) = self.failed.take() {
            return Err(failed);
        }
        // Who only read leaves the watermark as it is: an older one may be all that is left of a damaged file.
        if self.has_committed && self.record.marked != self.record.now {
            self.records.backend.flush()?;
            self.mark()?;
        }
        Ok(())
    }

    fn fail(&mut self, error: &StoreError) {
        tracing::debug!(%error, "the store stops accepting writes");
        self.failed.get_or_insert_with(|| match error {
            StoreError::Full { .. } => error.repeated(),
            error => StoreError::Failed { reason: error.to_string() },
        });
    }
}

/// Says what a failed commit leaves: on a full disk nothing, otherwise what was written may be there or not.
fn unsettled(error: StoreError) -> StoreError {
    match error {
        StoreError::Full { .. } => error,
        other => StoreError::Unsettled { reason: other.to_string() },
    }
}
