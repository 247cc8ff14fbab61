//! The committer: the one thread that writes. It stages what many callers want, makes it durable with one flush, and
//! answers them all.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, PoisonError};
use std::thread::JoinHandle;

use super::append::{Append, Appended, BranchState};
use super::create::{BranchCreation, MatchCreation};
use super::delete::{BranchDeletion, MatchDeletion};
use super::rename::{BranchRenaming, MatchRenaming};
use crate::backend::{Change, Place, Watermark};
use crate::error::StoreError;
use crate::layout::record::{HeadRecord, StoreRecord};
use crate::layout::{key, record};
use crate::names::{BranchName, IdempotencyKey, MatchName};
use crate::open::Shared;

/// The most requests that wait, and the most that one flush serves.
const QUEUE_MAX: usize = 256;

/// Enough changes, and bytes of them, for one flush: what is more makes it no cheaper.
const CHANGES_MAX: usize = 4096;
const BYTES_MAX: usize = 128 * 1024;

/// The most branches whose state is kept; beyond it all are read again when they are written to.
const BRANCHES_MAX: usize = 4096;

/// Something to be written.
pub(crate) enum Work {
    Append(Append),
    CreateMatch(MatchCreation),
    CreateBranch(BranchCreation),
    RenameMatch(MatchRenaming),
    RenameBranch(BranchRenaming),
    DeleteBranch(BranchDeletion),
    DeleteMatch(MatchDeletion),
}

/// What was written.
pub(crate) enum Done {
    Appended(Appended),
    Changed,
}

struct Request {
    work: Work,
    reply: SyncSender<Result<Done, StoreError>>,
}

/// The handle on the committer's thread.
pub(crate) struct Committer {
    /// Gone once the committer is stopped.
    running: Option<Running>,
}

struct Running {
    sender: SyncSender<Request>,
    thread: JoinHandle<Result<(), StoreError>>,
}

impl Committer {
    pub(crate) fn start(shared: Arc<Shared>, record: StoreRecord) -> Result<Self, StoreError> {
        let (sender, requests) = sync_channel(QUEUE_MAX);
        let writer = Writer { shared, record, branches: BTreeMap::new(), has_committed: false, failed: None };
        let thread = std::thread::Builder::new().name("turnfold committer".to_owned());
        let thread = thread.spawn(move || writer.run(&requests));
        let thread =
            thread.map_err(|source| StoreError::Io { action: "start the committer".to_owned(), source })?;
        Ok(Self { running: Some(Running { sender, thread }) })
    }

    /// Has something written and waits until it is durable.
    pub(crate) fn perform(&self, work: Work) -> Result<Done, StoreError> {
        let (reply, answer) = sync_channel(1);
        let running = self.running.as_ref();
        let sent = running.and_then(|running| running.sender.send(Request { work, reply }).ok());
        let answer = sent.and_then(|()| answer.recv().ok());
        answer.unwrap_or_else(|| Err(StoreError::Failed { reason: "its committer ended".to_owned() }))
    }

    /// Ends the thread after it has served what waits.
    pub(crate) fn stop(&mut self) -> Result<(), StoreError> {
        let Some(Running { sender, thread }) = self.running.take() else { return Ok(()) };
        drop(sender);
        let ended = thread.join();
        ended.unwrap_or_else(|_| Err(StoreError::Failed { reason: "its committer panicked".to_owned() }))
    }
}

impl Drop for Committer {
    fn drop(&mut self) {
        // Whoever wrote was told what failed.
        if let Err(error) = self.stop()
            && !matches!(error, StoreError::Failed { .. })
        {
            tracing::warn!(%error, "the store did not close cleanly; what was acknowledged is safe");
        }
    }
}

/// What waits for one flush.
#[derive(Default)]
pub(crate) struct Staged {
    pub(crate) changes: Vec<Change>,
    /// The entries appended by them.
    pub(crate) entries: u64,
    /// The idempotency keys among them.
    pub(crate) keys: BTreeSet<BranchKey>,
    /// The branches appended to and their heads before.
    pub(crate) heads_before: BTreeMap<u64, HeadRecord>,
    pub(crate) touched: Vec<(MatchName, BranchName)>,
    pub(crate) last: Last,
}

/// Where the branch written to last ends after a commit.
#[derive(Debug, Default)]
pub(crate) enum Last {
    /// Where it did before.
    #[default]
    Unchanged,
    At(Place),
    /// It was deleted.
    Nowhere,
}

/// An idempotency key on its branch.
pub(crate) type BranchKey = (MatchName, BranchName, IdempotencyKey);

impl Staged {
    fn is_full(&self) -> bool {
        let bytes = |change: &Change| change.key.len() + change.value.as_ref().map_or(0, Vec::len);
        self.changes.len() >= CHANGES_MAX || self.changes.iter().map(bytes).sum::<usize>() >= BYTES_MAX
    }

    /// Tells whether the work repeats a key that waits here, whose entries must be stored before they can be compared.
    fn has_key_of(&self, work: &Work) -> bool {
        let Work::Append(append) = work else { return false };
        append.branch_key().is_some_and(|key| self.keys.contains(&key))
    }
}

type Reply = (SyncSender<Result<Done, StoreError>>, Result<Done, StoreError>);

/// The state of the committer's thread.
pub(crate) struct Writer {
    pub(crate) shared: Arc<Shared>,
    /// The store record as it was last written, except that `marked` may be newer.
    pub(crate) record: StoreRecord,
    pub(crate) branches: BTreeMap<(MatchName, BranchName), BranchState>,
    /// Whether anything was committed since the store was opened.
    has_committed: bool,
    /// What failed, after which nothing is written any more.
    failed: Option<String>,
}

impl Writer {
    fn run(mut self, requests: &Receiver<Request>) -> Result<(), StoreError> {
        while let Ok(request) = requests.recv() {
            let waiting = requests.try_iter().take(QUEUE_MAX - 1);
            let group: Vec<_> = std::iter::once(request).chain(waiting).collect();
            self.serve(group);
        }
        self.finish()
    }

    fn serve(&mut self, group: Vec<Request>) {
        let mut staged = Staged::default();
        let mut replies = Vec::new();
        for Request { work, reply } in group {
            // What is no append looks at stored records, so nothing may wait when it begins.
            let stands_alone = !matches!(work, Work::Append(_));
            if stands_alone || staged.is_full() || staged.has_key_of(&work) {
                self.commit(std::mem::take(&mut staged), std::mem::take(&mut replies));
            }
            let answer = self.stage(work, &mut staged);
            if stands_alone && answer.is_err() {
                staged = Staged::default();
            }
            replies.push((reply, answer));
            if stands_alone {
                self.commit(std::mem::take(&mut staged), std::mem::take(&mut replies));
            }
        }
        self.commit(staged, replies);
    }

    fn stage(&mut self, work: Work, staged: &mut Staged) -> Result<Done, StoreError> {
        if let Some(reason) = &self.failed {
            return Err(StoreError::Failed { reason: reason.clone() });
        }
        if self.branches.len() > BRANCHES_MAX && staged.changes.is_empty() {
            self.branches.clear();
        }
        match work {
            Work::Append(append) => self.stage_append(append, staged).map(Done::Appended),
            Work::CreateMatch(creation) => self.stage_match(creation, staged).map(|()| Done::Changed),
            Work::CreateBranch(creation) => self.stage_branch(creation, staged).map(|()| Done::Changed),
            Work::RenameMatch(renaming) => {
                self.stage_match_renaming(&renaming, staged).map(|()| Done::Changed)
            }
            Work::RenameBranch(renaming) => {
                self.stage_branch_renaming(&renaming, staged).map(|()| Done::Changed)
            }
            Work::DeleteBranch(deletion) => {
                self.stage_branch_deletion(&deletion, staged).map(|()| Done::Changed)
            }
            Work::DeleteMatch(deletion) => {
                self.stage_match_deletion(&deletion, staged).map(|()| Done::Changed)
            }
        }
    }

    /// Makes what is staged durable and answers everyone; then seals what fills pages.
    fn commit(&mut self, staged: Staged, replies: Vec<Reply>) {
        let Staged { changes, entries, heads_before, touched, last, .. } = staged;
        let persisted = if changes.is_empty() {
            Ok(())
        } else {
            let last = match last {
                Last::Unchanged => self.record.now.last.clone(),
                Last::At(place) => Some(place),
                Last::Nowhere => None,
            };
            let now = self.record.now.after(&changes, entries, last);
            self.persist(changes, now, heads_before)
        };
        if let Err(error) = &persisted {
            self.fail(error);
        }
        for (reply, answer) in replies {
            let answer = match (&persisted, answer) {
                (Err(error), Ok(_)) => Err(again(error)),
                (_, answer) => answer,
            };
            // Whoever asked may have gone away.
            let _ = reply.send(answer);
        }
        if self.failed.is_none()
            && let Err(error) = self.seal(touched)
        {
            self.fail(&error);
        }
    }

    fn persist(
        &mut self,
        mut changes: Vec<Change>,
        now: Watermark,
        heads_before: BTreeMap<u64, HeadRecord>,
    ) -> Result<(), StoreError> {
        let next = StoreRecord { now, ..self.record.clone() };
        changes.push(record::put(key::STORE.to_vec(), &next));
        let branches: Vec<_> = heads_before.keys().copied().collect();
        self.acknowledged(|heads| heads.extend(heads_before));
        let backend = &self.shared.backend;
        let settled = backend.write(&changes).and_then(|()| backend.flush());
        settled.map_err(|error| unsettled(error.into()))?;
        self.acknowledged(|heads| heads.retain(|branch, _| branches.binary_search(branch).is_err()));
        self.record = next;
        self.has_committed = true;
        Ok(())
    }

    fn acknowledged(&self, change: impl FnOnce(&mut BTreeMap<u64, HeadRecord>)) {
        change(&mut self.shared.acknowledged.write().unwrap_or_else(PoisonError::into_inner));
    }

    /// Moves entries that fill pages from tails to pages. Should it be lost, the tails are still there.
    fn seal(&mut self, touched: Vec<(MatchName, BranchName)>) -> Result<(), StoreError> {
        let mut changes = Vec::new();
        for names in touched {
            if let Some(state) = self.branches.get_mut(&names).filter(|state| state.unsealed.fills_a_page()) {
                changes.extend(state.seal());
            }
        }
        if changes.is_empty() {
            return Ok(());
        }
        self.shared.backend.write(&changes)?;
        self.mark()
    }

    fn mark(&mut self) -> Result<(), StoreError> {
        self.shared.backend.set_watermark(&self.record.now)?;
        self.record.marked = self.record.now.clone();
        Ok(())
    }

    fn finish(&mut self) -> Result<(), StoreError> {
        if let Some(reason) = self.failed.take() {
            return Err(StoreError::Failed { reason });
        }
        // Who only read leaves the watermark as it is: an older one may be all that is left of a damaged file.
        if self.has_committed && self.record.marked != self.record.now {
            self.shared.backend.flush()?;
            self.mark()?;
        }
        Ok(())
    }

    fn fail(&mut self, error: &StoreError) {
        tracing::debug!(%error, "the store stops accepting writes");
        self.failed.get_or_insert_with(|| error.to_string());
    }
}

/// Says what a failed commit leaves: on a full disk nothing, otherwise what was written may be there or not.
fn unsettled(error: StoreError) -> StoreError {
    match error {
        StoreError::Full { .. } => error,
        other => StoreError::Unsettled { reason: other.to_string() },
    }
}

/// Repeats the failure of a commit to each of those who waited for it.
fn again(error: &StoreError) -> StoreError {
    match error {
        StoreError::Full { source } => {
            StoreError::Full { source: std::io::Error::new(source.kind(), source.to_string()) }
        }
        StoreError::Unsettled { reason } => StoreError::Unsettled { reason: reason.clone() },
        other => StoreError::Failed { reason: other.to_string() },
    }
}
