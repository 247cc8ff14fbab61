//! The committer: the only thread that writes. It stages the requests of many callers, makes them durable with one
//! sync, and answers all of them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SendError, SyncSender, sync_channel};
use std::thread::JoinHandle;

use turnfold_core::Digest;

use crate::chain::Linker;
use crate::engine::EngineReader as _;
use crate::entry::{PackedEntries, encode};
use crate::error::StoreError;
use crate::local::journal::commit::{BODY_VERSION, Op};
use crate::local::record::StoreRecord;
use crate::local::records::Records;
use crate::local::replay::replay_strictly;
use crate::local::staging::Staging;
use crate::names::{BranchName, IdempotencyKey, MatchName};
use crate::reader::branch::Head;

/// The most requests that wait, and the most that one sync serves.
const QUEUE_MAX: usize = 256;

pub(crate) enum CommitSharing {
    /// The request may share a sync, but not with an append that has the same idempotency key. The entries of the first
    /// must be stored before the second can be compared with them.
    Shared(Option<BranchKey>),
    /// The request needs a sync of its own, because it reads stored records: everything before must be committed when it
    /// begins.
    Alone,
}

pub(crate) type BranchKey = (MatchName, BranchName, IdempotencyKey);

/// Stages a request, unless it is refused with an error.
type Stage = dyn FnOnce(Result<(&mut Ledger, &mut Staged), StoreError>) -> Answer + Send;

struct Request {
    sharing: CommitSharing,
    stage: Box<Stage>,
}

struct Answer {
    is_error: bool,
    /// Passes it on, or an error of the commit instead.
    give: Box<dyn FnOnce(Result<(), StoreError>)>,
}

/// Both are `None` once the committer has stopped.
pub(crate) struct Committer {
    sender: Option<SyncSender<Request>>,
    thread: Option<JoinHandle<Result<(), StoreError>>>,
}

impl Committer {
    pub(crate) fn start(records: Arc<Records>, record: StoreRecord) -> Result<Self, StoreError> {
        let (sender, requests) = sync_channel(QUEUE_MAX);
        let ledger = Ledger::new(records, record);
        let thread = std::thread::Builder::new().name("turnfold committer".to_owned());
        match thread.spawn(move || run(ledger, &requests)) {
            Ok(thread) => Ok(Self { sender: Some(sender), thread: Some(thread) }),
            Err(source) => Err(StoreError::Io { action: "start the committer".to_owned(), source }),
        }
    }

    /// Commits what `stage` stages. Returns the result of `stage` once that is durable.
    pub(crate) fn perform<T: Send + 'static>(
        &self,
        sharing: CommitSharing,
        stage: impl FnOnce(&mut Ledger, &mut Staged) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (sender, answer) = sync_channel(1);
        // The receiver may be gone, if the caller panicked.
        self.submit(sharing, stage, move |done| drop(sender.send(done)));
        answer.recv().unwrap_or_else(|_| Err(ended()))
    }

    /// Commits what `stage` stages, then calls `then` with its result. `then` runs on the committer's thread, so other
    /// requests wait until it returns. If that thread dies, `then` is dropped.
    pub(crate) fn submit<T: Send + 'static>(
        &self,
        sharing: CommitSharing,
        stage: impl FnOnce(&mut Ledger, &mut Staged) -> Result<T, StoreError> + Send + 'static,
        then: impl FnOnce(Result<T, StoreError>) + Send + 'static,
    ) {
        let stage = Box::new(move |begun: Result<(&mut Ledger, &mut Staged), StoreError>| {
            let result = match begun {
                Ok((ledger, staged)) => stage(ledger, staged),
                Err(error) => Err(error),
            };
            let is_error = result.is_err();
            let give = Box::new(move |committed: Result<(), StoreError>| match (result, committed) {
                (Ok(_), Err(error)) => then(Err(error)),
                (result, _) => then(result),
            });
            Answer { is_error, give }
        });
        let request = Request { sharing, stage };
        let sent = match &self.sender {
            Some(sender) => sender.send(request),
            None => Err(SendError(request)),
        };
        if let Err(SendError(Request { stage, .. })) = sent {
            (stage(Err(ended())).give)(Ok(()));
        }
    }

    pub(crate) fn stop(&mut self) -> Result<(), StoreError> {
        drop(self.sender.take());
        let Some(thread) = self.thread.take() else { return Ok(()) };
        match thread.join() {
            Ok(ended) => ended,
            Err(_) => Err(StoreError::Failed { reason: "its committer panicked".to_owned() }),
        }
    }
}

impl Drop for Committer {
    fn drop(&mut self) {
        // A failure of the committer is not logged, because the caller of the failed write got it.
        if let Err(error) = self.stop()
            && !matches!(error, StoreError::Failed { .. })
        {
            tracing::warn!(%error, "the store did not close cleanly; what was acknowledged is safe");
        }
    }
}

fn ended() -> StoreError {
    StoreError::Failed { reason: "its committer ended".to_owned() }
}

fn run(mut ledger: Ledger, requests: &Receiver<Request>) -> Result<(), StoreError> {
    let mut served = 0;
    while let Ok(request) = requests.recv() {
        let group = gather(request, requests, served);
        served = group.len();
        serve(&mut ledger, group);
    }
    ledger.finish()
}

/// Collects waiting requests into a group. Callers that were answered together often ask again at once. So it waits for
/// as many requests as were served last, while more keep coming.
fn gather(first: Request, requests: &Receiver<Request>, served: usize) -> Vec<Request> {
    let mut group = vec![first];
    let mut has_waited = false;
    loop {
        let before = group.len();
        group.extend(requests.try_iter().take(QUEUE_MAX - before));
        if group.len() >= served || has_waited && group.len() == before {
            return group;
        }
        std::thread::yield_now();
        has_waited = true;
    }
}

fn serve(ledger: &mut Ledger, requests: Vec<Request>) {
    let mut group = Group::default();
    for Request { sharing, stage } in requests {
        let is_alone = matches!(sharing, CommitSharing::Alone);
        let must_wait = match &sharing {
            CommitSharing::Shared(Some(key)) => group.idempotency_keys.contains(key),
            CommitSharing::Shared(None) => false,
            CommitSharing::Alone => true,
        };
        if must_wait || group.staged.is_full() {
            std::mem::take(&mut group).commit(ledger);
        }
        let answer = match ledger.require_working(&group.staged) {
            Ok(()) => stage(Ok((ledger, &mut group.staged))),
            Err(error) => stage(Err(error)),
        };
        if is_alone && answer.is_error {
            group.staged = Staged::default();
        }
        if let CommitSharing::Shared(Some(key)) = sharing {
            group.idempotency_keys.insert(key);
        }
        group.answers.push(answer);
        if is_alone {
            std::mem::take(&mut group).commit(ledger);
        }
    }
    group.commit(ledger);
}

#[derive(Default)]
struct Group {
    staged: Staged,
    idempotency_keys: BTreeSet<BranchKey>,
    answers: Vec<Answer>,
}

impl Group {
    /// Makes everything staged durable, all or nothing (ST-2), and only then answers the callers (ST-1).
    fn commit(self, ledger: &mut Ledger) {
        let committed = ledger.commit(self.staged);
        for answer in self.answers {
            (answer.give)(match &committed {
                Ok(()) => Ok(()),
                Err(error) => Err(error.repeated()),
            });
        }
    }
}

/// The bytes from which on a commit is full. Larger commits would not make a sync cheaper.
const BYTES_MAX: usize = 128 * 1024;

const ENTRIES_MAX: usize = 4096;

/// The most branches whose heads are kept in memory. Beyond that all are dropped, and read again when they are needed.
const BRANCHES_MAX: usize = 4096;

type Names = (MatchName, BranchName);

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
        Self { body: vec![BODY_VERSION] }
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
        let mut linker = Linker::new();
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

    pub(crate) fn forget(&mut self, name: &MatchName) {
        self.branches.retain(|(match_name, _), _| match_name != name);
        self.modules.remove(name);
    }

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
        let mut staging = Staging::over(self.records.backend.as_ref(), self.record.clone());
        replay_strictly(&mut staging, self.record.end.after(&body), &body)?;
        let changes = staging.take_changes();
        let record = staging.store;
        if let Err(error) = self.records.backend.commit(body, changes) {
            // A full disk leaves no trace of the commit. Otherwise it may or may not be on disk.
            return Err(match StoreError::from(error) {
                error @ StoreError::Full { .. } => error,
                other => StoreError::Unsettled { reason: other.to_string() },
            });
        }
        self.next_id = record.next_id;
        self.record = record;
        Ok(())
    }

    pub(crate) fn finish(&mut self) -> Result<(), StoreError> {
        // The failure can be taken, because this is the last call before the store is closed.
        match self.failed.take() {
            Some(failed) => Err(failed),
            None => Ok(()),
        }
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
