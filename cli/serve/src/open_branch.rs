//! One branch in memory: its head state, what viewers know of it, and its watched head (SV-17, SV-27).

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use tokio::sync::{Mutex as AsyncMutex, MutexGuard as AsyncMutexGuard, OwnedMutexGuard, watch};
use turnfold_core::any::FaultOf;
use turnfold_history::session::play::PlayPosition;
use turnfold_history::{LogEntry, Revision, Viewer};
use turnfold_store::{BranchHead, BranchId, NamedBranch, StoreError};

use crate::head_state::{CachedView, HeadState, KeptHead};
use crate::knowledge::{Delta, Knowledge};
use crate::limits::{SHORT_LOG, WAITING_MAX};
use crate::memory::{Memory, MemoryShare};
use crate::problem::{ApiResult, Problem};
use crate::world::World;

/// If judging took less time, the next commands are judged without a thread, which costs some tens of microseconds.
const QUICK: Duration = Duration::from_micros(200);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Watched {
    /// The durable head of the branch.
    Head(u64),
    /// The branch is deleted.
    Gone,
}

/// A branch in memory. All that is kept of it is here, and is counted.
///
/// Of its two locks, `work` is taken first. It may be held for long; `head` is held only for moments.
pub(crate) struct OpenBranch {
    revision: Revision,
    id: BranchId,
    match_id: OnceLock<[u8; 16]>,
    /// The number of its opening; a later opening has a greater number.
    opened: u64,
    /// Held by the task that appends.
    turn: Arc<AsyncMutex<()>>,
    /// Held by the stream whose delta is being computed. Other streams wait for it without a thread.
    following: AsyncMutex<()>,
    watched: watch::Sender<Watched>,
    head: Mutex<KeptHead>,
    work: Mutex<BranchWork>,
}

/// What is known only by reading and folding. The holder of the lock reads and folds; others wait for the result.
pub(crate) struct BranchWork {
    pub(crate) viewers: BTreeMap<Viewer, Knowledge>,
    share: MemoryShare,
}

impl BranchWork {
    fn count(&mut self, state_bytes: u64) {
        self.share.set(self.viewers.values().map(|knowledge| knowledge.bytes(state_bytes)).sum());
    }
}

/// A follower of a branch. Dropping it ends the following.
pub(crate) struct Following {
    watched: watch::Receiver<Watched>,
    left: Left,
}

/// Drops the deltas that are kept for followers, when the last follower is dropped. The field comes after `watched`,
/// because the branch is followed until that is dropped.
struct Left(Arc<OpenBranch>);

impl Following {
    pub(crate) fn new(branch: &Arc<OpenBranch>) -> Self {
        Self { watched: branch.watched.subscribe(), left: Left(Arc::clone(branch)) }
    }

    pub(crate) fn watched(&self) -> watch::Receiver<Watched> {
        self.watched.clone()
    }

    pub(crate) fn branch(&self) -> &Arc<OpenBranch> {
        &self.left.0
    }
}

impl Drop for Left {
    fn drop(&mut self) {
        if !self.0.is_followed() {
            self.0.lock().drop_deltas();
        }
    }
}

impl OpenBranch {
    pub(crate) fn new(
        revision: Revision,
        BranchHead { id, seq: head }: BranchHead,
        opened: u64,
        memory: &Memory,
    ) -> Self {
        Self {
            revision,
            id,
            match_id: OnceLock::new(),
            opened,
            turn: Arc::default(),
            following: AsyncMutex::default(),
            watched: watch::Sender::new(Watched::Head(head)),
            head: Mutex::new(KeptHead::new(memory)),
            work: Mutex::new(BranchWork { viewers: BTreeMap::new(), share: memory.share(0) }),
        }
    }

    pub(crate) fn revision(&self) -> &Revision {
        &self.revision
    }

    /// Returns the branch's id, even if another branch has its name now.
    pub(crate) fn id(&self) -> BranchId {
        self.id
    }

    /// Returns the unique id of its match.
    pub(crate) fn match_id(&self, world: &World) -> ApiResult<[u8; 16]> {
        if let Some(id) = self.match_id.get() {
            return Ok(*id);
        }
        let id = world.store.genesis(&self.revision.match_name)?.match_id;
        Ok(*self.match_id.get_or_init(|| id))
    }

    pub(crate) fn named(&self) -> NamedBranch {
        let Revision { match_name, branch, .. } = self.revision.clone();
        NamedBranch { match_name, branch, id: self.id }
    }

    /// Returns whether the match left the branch; `None` if that is not known.
    pub(crate) fn is_left(&self) -> Option<bool> {
        self.lock().is_left
    }

    /// Notes whether the match left the branch; `None` if that is no longer known.
    pub(crate) fn note_left(&self, is_left: Option<bool>) {
        self.lock().is_left = is_left;
    }

    /// Returns the number of its opening.
    pub(crate) fn opened(&self) -> u64 {
        self.opened
    }

    /// Waits until no other command is judged on the branch. Refuses if too many commands wait.
    pub(crate) async fn turn(&self) -> ApiResult<OwnedMutexGuard<()>> {
        let turn = Arc::clone(&self.turn);
        // The branch holds one reference, and the holder of the turn another.
        if Arc::strong_count(&turn) > WAITING_MAX + 2 {
            return Err(Problem::overloaded("too many commands wait for this branch"));
        }
        Ok(turn.lock_owned().await)
    }

    /// Returns `true` if a command is judged on the branch, or waits for that.
    fn is_awaited(&self) -> bool {
        Arc::strong_count(&self.turn) > 1
    }

    /// Returns `true` if it has followers.
    pub(crate) fn is_followed(&self) -> bool {
        self.watched.receiver_count() > 0
    }

    /// Returns the last entry that the branch is known to have.
    pub(crate) fn known_head(&self) -> u64 {
        match *self.watched.borrow() {
            Watched::Head(head) => head,
            Watched::Gone => 0,
        }
    }

    /// Announces a later head of the branch. Earlier heads are ignored.
    pub(crate) fn announce(&self, head: u64) {
        self.watched.send_if_modified(|watched| {
            let is_later = matches!(*watched, Watched::Head(old) if old < head);
            if is_later {
                *watched = Watched::Head(head);
            }
            is_later
        });
    }

    /// Waits until no delta is being computed for another stream.
    pub(crate) async fn following(&self) -> AsyncMutexGuard<'_, ()> {
        self.following.lock().await
    }

    /// Announces that the branch is deleted.
    pub(crate) fn end(&self) {
        self.watched.send_replace(Watched::Gone);
        self.forget();
    }

    /// Requires that the branch was not deleted while a command waited. A new branch of its name is opened again.
    pub(crate) fn require_there(&self) -> ApiResult<()> {
        match *self.watched.borrow() {
            Watched::Head(_) => Ok(()),
            Watched::Gone => Err(self.gone()),
        }
    }

    pub(crate) fn gone(&self) -> Problem {
        let Revision { match_name, branch, .. } = self.revision.clone();
        StoreError::NoSuchBranch { match_name, branch }.into()
    }

    fn lock(&self) -> MutexGuard<'_, KeptHead> {
        self.head.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until no other thread reads or folds the branch.
    pub(crate) fn work(&self) -> MutexGuard<'_, BranchWork> {
        self.work.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes room, unless a command waits. What another thread uses just now stays in memory.
    pub(crate) fn make_room(&self) {
        if self.is_awaited() {
            return;
        }
        if let Ok(mut head) = self.head.try_lock() {
            head.forget();
        }
        if let Ok(mut work) = self.work.try_lock() {
            work.viewers.clear();
            work.count(0);
        }
    }

    /// Forgets the head state, which is then read again.
    pub(crate) fn forget(&self) {
        let mut head = self.lock();
        head.forgotten += 1;
        head.forget();
    }

    /// Discards what is in memory if the failed module or referee plays the branch, or may play it.
    pub(crate) fn discard(&self, at_fault: &FaultOf) {
        let is_other = |current: &HeadState| !at_fault.is(&*current.position.rules);
        if self.lock().current.as_ref().is_some_and(is_other) {
            return;
        }
        self.forget();
        if let Ok(mut work) = self.work.try_lock() {
            work.viewers.clear();
            work.count(0);
        }
    }

    /// Replaces the head state after an append has become durable, and announces the new head.
    pub(crate) fn publish(&self, current: HeadState) {
        let now = current.position.head;
        let mut head = self.lock();
        if head.at(now).is_some() {
            return;
        }
        head.current = Some(current);
        // No stream asks for a delta to an earlier head any more.
        head.drop_deltas();
        drop(head);
        self.announce(now);
    }

    /// Passes the head state to `look`. It is read from the store if it is not in memory. If it is behind the known
    /// head, only the missing entries are read (FL-18).
    pub(crate) fn current<T>(&self, world: &World, look: impl FnOnce(&mut HeadState) -> T) -> ApiResult<T> {
        let is_in_memory = self.lock().at(self.known_head()).is_some();
        let _work = (!is_in_memory).then(|| self.work());
        self.current_at_work(world, look)
    }

    /// Does the same as [`current`](Self::current), for a caller that holds `work`.
    pub(crate) fn current_at_work<T>(
        &self,
        world: &World,
        look: impl FnOnce(&mut HeadState) -> T,
    ) -> ApiResult<T> {
        let known = self.known_head();
        let (behind, forgotten) = {
            let mut head = self.lock();
            if let Some(current) = head.at(known) {
                let seen = look(current);
                head.count();
                return Ok(seen);
            }
            (head.current.as_ref().map(|current| current.position.fork()), head.forgotten)
        };
        let mut read = match behind {
            Some(behind) if self.is_played_by(world, &behind)? => {
                let entries = self.entries(world, behind.head, known)?;
                HeadState::new(behind.follow(&self.revision, &entries)?)
            }
            _ => HeadState::new(self.load(world)?),
        };
        self.announce(read.position.head);
        let mut head = self.lock();
        let is_forgotten = head.forgotten != forgotten;
        let seen = look(match &mut head.current {
            _ if is_forgotten => &mut read,
            Some(newer) if newer.position.head >= read.position.head => newer,
            older => older.insert(read),
        });
        head.count();
        Ok(seen)
    }

    /// Returns `false` if another module folded the state than the one that plays the match now (MD-9).
    fn is_played_by(&self, world: &World, current: &PlayPosition) -> ApiResult<bool> {
        let Some(module) = current.rules.module() else { return Ok(true) };
        let genesis = world.store.genesis(&self.revision.match_name)?;
        Ok(genesis.only_module().is_none_or(|only| *only == module))
    }

    fn load(&self, world: &World) -> ApiResult<PlayPosition> {
        world.metrics.table_misses.inc();
        let current = self.source(world)?.position(Some(&world.store))?;
        let Revision { match_name, branch, .. } = &self.revision;
        // If another branch has the name by now, what was read may be of that branch.
        if world.store.is_shared() && world.store.branch_head(match_name, branch)?.id != self.id {
            return Err(self.gone());
        }
        Ok(current)
    }

    /// Reads the entries of the log after one head, up to another.
    pub(crate) fn entries(&self, world: &World, after: u64, to: u64) -> ApiResult<Vec<LogEntry>> {
        let entries = world.store.entries_of(&self.named(), after + 1..=to)?;
        Ok(entries.map(|entry| entry.map(LogEntry::from)).collect::<Result<_, _>>()?)
    }

    /// Notes how long it took to judge commands and to compute the host's view.
    pub(crate) fn note_judging(&self, time: Duration) {
        self.lock().is_judged_quickly = time < QUICK;
    }

    /// Has the next command judged on a thread, where the store can be asked about the branch.
    pub(crate) fn judge_with_care(&self) {
        self.lock().is_judged_quickly = false;
    }

    /// Passes the head state to `look` if it is in memory, no other thread uses it, and the last commands were judged
    /// quickly.
    pub(crate) fn if_quick<T>(&self, look: impl FnOnce(&mut HeadState) -> T) -> Option<T> {
        let known = self.known_head();
        let mut head = self.head.try_lock().ok().filter(|head| head.is_judged_quickly)?;
        let seen = head.at(known).map(look);
        head.count();
        seen
    }

    /// Returns what a viewer sees at the head if the view is cached and no other thread uses it.
    pub(crate) fn shown_in_memory(&self, viewer: Viewer) -> Option<CachedView> {
        let head = self.head.try_lock().ok()?;
        head.current.as_ref()?.shown.get(&viewer).cloned()
    }

    /// Returns `true` if the delta of a viewer after a head can be computed without folding a long log.
    pub(crate) fn is_near(&self, viewer: Viewer, from: u64) -> bool {
        let known = self.known_head();
        let settled = || {
            let work = self.work.try_lock().ok()?;
            Some(work.viewers.get(&viewer)?.nearest(from)?.settled())
        };
        known <= SHORT_LOG || settled().is_some_and(|settled| known.saturating_sub(settled) <= SHORT_LOG)
    }

    /// Returns what is new to a viewer after one head, up to another, if that is kept.
    pub(crate) fn kept_delta(&self, viewer: Viewer, from: u64, to: u64) -> Option<Arc<Delta>> {
        self.lock().delta(viewer, from, to)
    }

    /// Keeps what is new to a viewer after a head, as long as there are followers.
    pub(crate) fn keep_delta(&self, viewer: Viewer, from: u64, delta: &Arc<Delta>) {
        if self.is_followed() {
            self.lock().keep_delta(viewer, from, delta);
        }
    }

    /// Counts the memory of `work`.
    pub(crate) fn count(&self, work: &mut BranchWork) {
        let state_bytes = self.lock().current.as_ref().map_or(0, |current| current.bytes);
        work.count(state_bytes);
    }
}
