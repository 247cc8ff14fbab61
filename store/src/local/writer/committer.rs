//! The committer: the only thread that writes. It stages the requests of many callers, makes them durable with one
//! sync, and answers all of them.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SendError, SyncSender, sync_channel};
use std::thread::JoinHandle;

use super::ledger::{Ledger, Staged};
use crate::error::StoreError;
use crate::local::layout::record::StoreRecord;
use crate::local::reader::records::Records;
use crate::names::{BranchName, IdempotencyKey, MatchName};

/// The most requests that wait, and the most that one sync serves.
const QUEUE_MAX: usize = 256;

/// Whether a request may share a sync with others.
pub(crate) enum CommitSharing {
    /// It may, but not with an append that has the same idempotency key. The entries of the first must be stored before
    /// the second can be compared with them.
    Shared(Option<BranchKey>),
    /// It may not, because it reads stored records: everything before must be committed when it begins.
    Alone,
}

pub(crate) type BranchKey = (MatchName, BranchName, IdempotencyKey);

type Stage = dyn FnOnce(&mut Ledger, &mut Staged) -> Result<(), StoreError> + Send;
type Reply = Box<dyn FnOnce(Result<(), StoreError>) + Send>;

/// A request to write.
struct Request {
    sharing: CommitSharing,
    stage: Box<Stage>,
    reply: Reply,
}

/// The handle of the committer's thread.
pub(crate) struct Committer {
    /// `None` once the committer has stopped.
    running: Option<Running>,
}

struct Running {
    sender: SyncSender<Request>,
    thread: JoinHandle<Result<(), StoreError>>,
}

impl Committer {
    pub(crate) fn start(records: Arc<Records>, record: StoreRecord) -> Result<Self, StoreError> {
        let (sender, requests) = sync_channel(QUEUE_MAX);
        let ledger = Ledger::new(records, record);
        let thread = std::thread::Builder::new().name("turnfold committer".to_owned());
        let thread = thread.spawn(move || run(ledger, &requests));
        let thread =
            thread.map_err(|source| StoreError::Io { action: "start the committer".to_owned(), source })?;
        Ok(Self { running: Some(Running { sender, thread }) })
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
        let (result_sender, result) = sync_channel(1);
        let stage = Box::new(move |ledger: &mut Ledger, staged: &mut Staged| {
            stage(ledger, staged).map(|done| drop(result_sender.send(done)))
        });
        let reply: Reply = Box::new(move |answer| {
            then(answer.and_then(|()| result.recv().map_err(|_| ended())));
        });
        let request = Request { sharing, stage, reply };
        let refused = match &self.running {
            Some(running) => running.sender.send(request).err().map(|SendError(request)| request),
            None => Some(request),
        };
        if let Some(Request { reply, .. }) = refused {
            reply(Err(ended()));
        }
    }

    /// Stops the thread, after it has served the waiting requests.
    pub(crate) fn stop(&mut self) -> Result<(), StoreError> {
        let Some(Running { sender, thread }) = self.running.take() else { return Ok(()) };
        drop(sender);
        let ended = thread.join();
        ended.unwrap_or_else(|_| Err(StoreError::Failed { reason: "its committer panicked".to_owned() }))
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
    for Request { sharing, stage, reply } in requests {
        let (stands_alone, idempotency_key) = match sharing {
            CommitSharing::Alone => (true, None),
            CommitSharing::Shared(idempotency_key) => (false, idempotency_key),
        };
        let waits = idempotency_key.as_ref().is_some_and(|key| group.idempotency_keys.contains(key));
        if stands_alone || waits || group.staged.is_full() {
            std::mem::take(&mut group).commit(ledger);
        }
        let answer = ledger.require_working(&group.staged).and_then(|()| stage(ledger, &mut group.staged));
        if stands_alone && answer.is_err() {
            group.staged = Staged::default();
        }
        group.idempotency_keys.extend(idempotency_key);
        group.replies.push((reply, answer));
        if stands_alone {
            std::mem::take(&mut group).commit(ledger);
        }
    }
    group.commit(ledger);
}

/// The requests that share one sync.
#[derive(Default)]
struct Group {
    staged: Staged,
    idempotency_keys: BTreeSet<BranchKey>,
    replies: Vec<(Reply, Result<(), StoreError>)>,
}

impl Group {
    /// Makes everything staged durable, all or nothing (ST-2), and only then answers the callers (ST-1).
    fn commit(self, ledger: &mut Ledger) {
        let Self { staged, replies, .. } = self;
        let committed = ledger.commit(staged);
        for (reply, answer) in replies {
            let answer = match (&committed, answer) {
                (Err(error), Ok(())) => Err(error.repeated()),
                (_, answer) => answer,
            };
            reply(answer);
        }
    }
}
