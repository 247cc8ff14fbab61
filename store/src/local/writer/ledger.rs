//! The ledger: what the committer knows of the store, and what it is about to write.

use std::collections::BTreeMap;
use std::sync::Arc;

use turnfold_core::Digest;

use crate::chain::Linker;
use crate::engine::EngineReader as _;
use crate::entry::{PackedEntries, encode};
use crate::error::StoreError;
use crate::local::journal::commit::Point;
use crate::local::journal::op::{Op, VERSION};
use crate::local::layout::record::StoreRecord;
use crate::local::reader::records::Records;
use crate::local::replay::replay_strictly;
use crate::local::staging::Staging;
use crate::names::{BranchName, IdempotencyKey, MatchName};
use crate::reader::found::Head;

/// The bytes from which on a commit is full. Larger commits would not make a sync cheaper.
const BYTES_MAX: usize = 128 * 1024;

const ENTRIES_MAX: usize = 4096;

/// The most branches whose heads are kept in memory. Beyond that all are dropped, and read again when they are needed.
const BRANCHES_MAX: usize = 4096;

/// The names of a match and of a branch.
type Names = (MatchName, BranchName);

/// The committer's state of a branch, staged entries included.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BranchState {
    pub(crate) id: u64,
    pub(crate) head: Head,
}

/// The body of the next commit: operations, encoded one after another behind the version.
pub(crate) struct Staged {
    body: Vec<u8>,
}

impl Default for Staged {
    fn default() -> Self {
        Self { body: vec![VERSION] }
    }
}

impl Staged {
    pub(crate) fn is_full(&self) -> bool {
        self.body.len() >= BYTES_MAX
    }

    fn is_empty(&self) -> bool {
        self.body.len() == 1
    }

    pub(crate) fn add(&mut self, op: &Op<'_>) {
        self.body.extend(encode(op));
    }

    /// Numbers entries and appends them to a branch. Many entries become several operations, so that readers need not
    /// hold all of them. Entries with an idempotency key stay in one operation, because the key is found per operation.
    pub(crate) fn append(
        &mut self,
        state: &mut BranchState,
        entries: &PackedEntries,
        idempotency_key: Option<&IdempotencyKey>,
    ) {
        let linker = Linker::new();
        let mut entries = entries.iter();
        let entries_max = if idempotency_key.is_some() { usize::MAX } else { ENTRIES_MAX };
        loop {
            let mut bytes = Vec::new();
            for entry in entries.by_ref().take(entries_max) {
                let seq = state.head.seq + 1;
                let entry = entry.number(seq, idempotency_key).encode();
                state.head = Head { seq, link: linker.link(&state.head.link, &entry) };
                bytes.push(entry);
            }
            if bytes.is_empty() {
                return;
            }
            let entries = bytes.iter().map(Vec::as_slice).collect();
            self.add(&Op::Append { branch: state.id, link: state.head.link, entries });
        }
    }
}

/// The state of the committer's thread.
pub(crate) struct Ledger {
    pub(crate) records: Arc<Records>,
    /// The last written record about the store.
    record: StoreRecord,
    /// The next id for a match, a branch or a new name.
    next_id: u64,
    pub(crate) branches: BTreeMap<Names, BranchState>,
    /// The modules that are known or staged as the modules of matches.
    modules: BTreeMap<MatchName, Digest>,
    /// The first failure, after which the committer writes nothing more.
    failed: Option<StoreError>,
}

impl Ledger {
    pub(crate) fn new(records: Arc<Records>, record: StoreRecord) -> Self {
        let next_id = record.next_id;
        Self { records, record, next_id, branches: BTreeMap::new(), modules: BTreeMap::new(), failed: None }
    }

    /// Requires that nothing has failed. If nothing is staged, it also drops the known branches when they are too many.
    pub(crate) fn require_working(&mut self, staged: &Staged) -> Result<(), StoreError> {
        if let Some(failed) = &self.failed {
            return Err(failed.repeated());
        }
        if self.branches.len() > BRANCHES_MAX && staged.is_empty() {
            self.branches.clear();
            self.modules.clear();
        }
        Ok(())
    }

    /// Requires the match to be played by this module. If none is recorded yet, it records the module in the same
    /// commit as the first entries that the module judged (MD-9).
    pub(crate) fn play_by(
        &mut self,
        staged: &mut Staged,
        match_name: &MatchName,
        module: Digest,
    ) -> Result<(), StoreError> {
        if self.modules.get(match_name) == Some(&module) {
            return Ok(());
        }
        let mut found = self.records.found_match(match_name)?;
        // A staged module is not in the records yet.
        found.module = self.modules.get(match_name).copied().or(found.module);
        if found.is_new_module(module)? {
            staged.add(&Op::RecordModule { match_name: match_name.clone(), module });
        }
        self.modules.insert(match_name.clone(), module);
        Ok(())
    }

    /// Forgets a match that is being deleted or renamed.
    pub(crate) fn forget(&mut self, name: &MatchName) {
        self.branches.retain(|(match_name, _), _| match_name != name);
        self.modules.remove(name);
    }

    /// Reserves the next `count` ids and returns the first.
    pub(crate) fn take_ids(&mut self, count: u64) -> u64 {
        let first = self.next_id;
        self.next_id += count;
        first
    }

    /// Makes what is staged durable. The visible records come from a replay of the very bytes in the journal (ST-17).
    pub(crate) fn commit(&mut self, staged: Staged) -> Result<(), StoreError> {
        if staged.is_empty() {
            return Ok(());
        }
        self.persist(staged.body).inspect_err(|error| self.fail(error))
    }

    fn persist(&mut self, body: Vec<u8>) -> Result<(), StoreError> {
        let before = Point { number: self.record.commits, digest: self.record.digest };
        let mut staging = Staging::over(self.records.backend.as_ref(), self.record.clone());
        replay_strictly(&mut staging, before.after(&body), &body)?;
        let (changes, record) = staging.take_changes();
        let done = self.records.backend.commit(body, changes);
        done.map_err(|error| unsettled(error.into()))?;
        self.next_id = record.next_id;
        self.record = record;
        Ok(())
    }

    /// Returns the first failure, if there was one. It is the last call before the store is closed.
    pub(crate) fn finish(&mut self) -> Result<(), StoreError> {
        self.failed.take().map_or(Ok(()), Err)
    }

    // ST-8: a full disk stays reported as full. Any other failure is reported as one that requires opening the store
    // again.
    fn fail(&mut self, error: &StoreError) {
        tracing::debug!(%error, "the store stops accepting writes");
        self.failed.get_or_insert_with(|| match error {
            StoreError::Full { .. } => error.repeated(),
            error => StoreError::Failed { reason: error.to_string() },
        });
    }
}

/// Returns the error of a failed commit. A full disk leaves no trace of it; otherwise it may or may not be on disk.
fn unsettled(error: StoreError) -> StoreError {
    match error {
        StoreError::Full { .. } => error,
        other => StoreError::Unsettled { reason: other.to_string() },
    }
}
