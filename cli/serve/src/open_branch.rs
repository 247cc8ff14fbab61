//! One branch in memory: its head state, what viewers know of it, and its watched head (SV-17, SV-27).

use std::collections::BTreeMap;
use std::mem;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard, watch};
use turnfold_core::AnyState;
use turnfold_core::any::FaultOf;
use turnfold_history::session::PlayPosition;
use turnfold_history::{HistorySource, LogEntry, Revision, Viewer};
use turnfold_store::{BranchHead, BranchId, NamedBranch, StoreError};

use crate::branch_cache::{BRANCH_BYTES, Memory, MemoryShare, state_memory};
use crate::http::json_text;
use crate::knowledge::{Delta, Knowledge};
use crate::limits::{SHORT_LOG, WAITING_MAX};
use crate::problem::{ApiResult, Problem};
use crate::tag::tag_of;
use crate::world::World;

/// If judging took less time, the next commands are judged without a thread, which costs some tens of microseconds.
const QUICK: Duration = Duration::from_micros(200);

/// The most deltas to keep. Clients that follow closely ask for the same few.
const DELTAS_MAX: usize = 256;

pub(crate) struct OpenBranch {
    revision: Revision,
    id: BranchId,
    match_id: OnceLock<[u8; 16]>,
    /// Held by the task that appends.
    turn: Arc<AsyncMutex<()>>,
    /// Held by the stream whose delta is being computed. Other streams wait for it without a thread.
    pub(crate) following: AsyncMutex<()>,
    /// The durable head; `None` once the branch is deleted.
    watched: watch::Sender<Option<u64>>,
    kept: Mutex<Kept>,
    /// Notified when a thread has put back what viewers know.
    put_back: Condvar,
    pub(crate) memory: Memory,
    _share: MemoryShare,
}

/// What is kept in memory of a branch. Its lock is held only for moments.
struct Kept {
    current: Option<HeadState>,
    /// How often the head state was forgotten. A state that was being read at that time is not kept.
    forgotten: u64,
    /// Whether the last commands were judged quickly.
    is_judged_quickly: bool,
    /// Whether the match was on this branch and left it (SV-65); `None` if that is not known.
    is_left: Option<bool>,
    followers: usize,
    /// What is new to viewers after an earlier head, for other followers.
    deltas: BTreeMap<(Viewer, u64), Arc<Delta>>,
    /// `None` while a thread that folds has it.
    viewers: Option<BTreeMap<Viewer, Knowledge>>,
}

impl Kept {
    fn at(&mut self, head: u64) -> Option<&mut HeadState> {
        self.current.as_mut().filter(|current| current.position.head >= head)
    }

    fn put(&mut self, read: HeadState) -> &mut HeadState {
        let newer = self.current.take().filter(|newer| newer.position.head >= read.position.head);
        if newer.is_none() {
            // No stream asks for a delta to an earlier head any more.
            self.deltas.clear();
        }
        self.current.insert(newer.unwrap_or(read))
    }

    fn clear(&mut self) {
        self.current = None;
        self.deltas.clear();
        if let Some(viewers) = &mut self.viewers {
            viewers.clear();
        }
    }
}

/// What viewers know, while one thread reads and folds the branch. It is put back for the others, who wait.
pub(crate) struct Folding<'b> {
    branch: &'b OpenBranch,
    pub(crate) viewers: BTreeMap<Viewer, Knowledge>,
    forgotten: u64,
}

impl Folding<'_> {
    pub(crate) fn current<T>(&self, world: &World, look: impl FnOnce(&mut HeadState) -> T) -> ApiResult<T> {
        let branch = self.branch;
        let known = branch.known_head();
        let mut kept = branch.kept();
        // Another thread may have read it in the meantime.
        if let Some(current) = kept.at(known) {
            return Ok(look(current));
        }
        let behind = kept.current.as_ref().map(|current| current.position.fork());
        let forgotten = kept.forgotten;
        drop(kept);
        // FL-18: if the state in memory is behind, only the missing entries are read.
        let position = match behind {
            Some(behind) if branch.is_played_by(world, &behind)? => {
                let entries = branch.entries(world, behind.head, known)?;
                behind.follow(&branch.revision, &entries)?
            }
            _ => branch.load(world)?,
        };
        let mut read = HeadState::new(position, &branch.memory);
        branch.announce(read.position.head);
        let mut kept = branch.kept();
        Ok(look(if kept.forgotten == forgotten { kept.put(read) } else { &mut read }))
    }
}

impl Drop for Folding<'_> {
    fn drop(&mut self) {
        let mut kept = self.branch.kept();
        let is_forgotten = kept.forgotten != self.forgotten;
        kept.viewers = Some(if is_forgotten { BTreeMap::new() } else { mem::take(&mut self.viewers) });
        drop(kept);
        self.branch.put_back.notify_one();
    }
}

pub(crate) struct Following(Arc<OpenBranch>);

impl Following {
    pub(crate) fn new(branch: Arc<OpenBranch>) -> Self {
        branch.kept().followers += 1;
        Self(branch)
    }

    pub(crate) fn branch(&self) -> &Arc<OpenBranch> {
        &self.0
    }
}

impl Drop for Following {
    fn drop(&mut self) {
        let mut kept = self.0.kept();
        kept.followers -= 1;
        if kept.followers == 0 {
            kept.deltas.clear();
        }
    }
}

impl OpenBranch {
    pub(crate) fn new(revision: Revision, BranchHead { id, seq }: BranchHead, memory: &Memory) -> Self {
        let kept = Kept {
            current: None,
            forgotten: 0,
            is_judged_quickly: false,
            is_left: None,
            followers: 0,
            deltas: BTreeMap::new(),
            viewers: Some(BTreeMap::new()),
        };
        Self {
            revision,
            id,
            match_id: OnceLock::new(),
            turn: Arc::default(),
            following: AsyncMutex::default(),
            watched: watch::Sender::new(Some(seq)),
            kept: Mutex::new(kept),
            put_back: Condvar::new(),
            memory: memory.clone(),
            _share: memory.share(BRANCH_BYTES),
        }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn folding(&self) -> Folding<'_> {
        let mut kept = self.kept();
        loop {
            if let Some(viewers) = kept.viewers.take() {
                return Folding { branch: self, viewers, forgotten: kept.forgotten };
            }
            kept = self.put_back.wait(kept).unwrap_or_else(PoisonError::into_inner);
        }
    }

    pub(crate) fn revision(&self) -> &Revision {
        &self.revision
    }

    /// Returns the branch's id, even if another branch has its name now.
    pub(crate) fn id(&self) -> BranchId {
        self.id
    }

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

    pub(crate) fn is_left(&self) -> Option<bool> {
        self.kept().is_left
    }

    pub(crate) fn note_left(&self, is_left: Option<bool>) {
        self.kept().is_left = is_left;
    }

    pub(crate) async fn turn(&self) -> ApiResult<OwnedMutexGuard<()>> {
        let turn = Arc::clone(&self.turn);
        // The branch holds one reference, and the holder of the turn another.
        if Arc::strong_count(&turn) > WAITING_MAX + 2 {
            return Err(Problem::overloaded("too many commands wait for this branch"));
        }
        Ok(turn.lock_owned().await)
    }

    pub(crate) fn is_followed(&self) -> bool {
        self.kept().followers > 0
    }

    pub(crate) fn watch(&self) -> watch::Receiver<Option<u64>> {
        self.watched.subscribe()
    }

    pub(crate) fn known_head(&self) -> u64 {
        self.watched.borrow().unwrap_or(0)
    }

    pub(crate) fn announce(&self, head: u64) {
        self.watched.send_if_modified(|watched| {
            let is_later = watched.is_some_and(|old| old < head);
            if is_later {
                *watched = Some(head);
            }
            is_later
        });
    }

    pub(crate) fn end(&self) {
        self.watched.send_replace(None);
        self.forget();
    }

    pub(crate) fn require_there(&self) -> ApiResult<()> {
        if self.watched.borrow().is_some() { Ok(()) } else { Err(self.gone()) }
    }

    fn gone(&self) -> Problem {
        let Revision { match_name, branch, .. } = self.revision.clone();
        StoreError::NoSuchBranch { match_name, branch }.into()
    }

    pub(crate) fn make_room(&self) {
        // What another thread or a waiting command uses stays in memory.
        if Arc::strong_count(&self.turn) == 1
            && let Ok(mut kept) = self.kept.try_lock()
        {
            kept.clear();
        }
    }

    pub(crate) fn forget(&self) {
        let mut kept = self.kept();
        kept.forgotten += 1;
        kept.clear();
    }

    pub(crate) fn discard(&self, at_fault: &FaultOf) {
        let is_other = |current: &HeadState| !at_fault.is(&*current.position.rules);
        // If nothing is in memory, the failed module or referee may play the branch.
        if !self.kept().current.as_ref().is_some_and(is_other) {
            self.forget();
        }
    }

    /// Replaces the head state after an append has become durable, and announces the new head.
    pub(crate) fn publish(&self, current: HeadState) {
        let head = current.position.head;
        self.kept().put(current);
        self.announce(head);
    }

    pub(crate) fn current<T>(&self, world: &World, look: impl FnOnce(&mut HeadState) -> T) -> ApiResult<T> {
        let known = self.known_head();
        if let Some(current) = self.kept().at(known) {
            return Ok(look(current));
        }
        self.folding().current(world, look)
    }

    fn is_played_by(&self, world: &World, current: &PlayPosition) -> ApiResult<bool> {
        let Some(module) = current.rules.module() else { return Ok(true) };
        let genesis = world.store.genesis(&self.revision.match_name)?;
        // MD-9: another module than the one that folded the state may play the match now.
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

    pub(crate) fn source(&self, world: &World) -> ApiResult<HistorySource> {
        let build = world.outside.build;
        Ok(HistorySource::of_branch(&self.revision, &world.store, &world.registry, build)?)
    }

    pub(crate) fn entries(&self, world: &World, after: u64, to: u64) -> ApiResult<Vec<LogEntry>> {
        let entries = world.store.entries_of(&self.named(), after + 1..=to)?;
        Ok(entries.map(|entry| entry.map(LogEntry::from)).collect::<Result<_, _>>()?)
    }

    pub(crate) fn note_judging(&self, time: Duration) {
        self.kept().is_judged_quickly = time < QUICK;
    }

    pub(crate) fn if_quick<T>(&self, look: impl FnOnce(&mut HeadState) -> T) -> Option<T> {
        let known = self.known_head();
        let mut kept = self.kept.try_lock().ok().filter(|kept| kept.is_judged_quickly)?;
        kept.at(known).map(look)
    }

    pub(crate) fn shown_in_memory(&self, viewer: Viewer) -> Option<CachedView> {
        self.kept.try_lock().ok()?.current.as_ref()?.shown.get(&viewer).cloned()
    }

    pub(crate) fn share_of_state(&self) -> MemoryShare {
        self.memory.share(self.kept().current.as_ref().map_or(0, |current| current.state_bytes))
    }

    /// Returns `true` if the delta of a viewer after a head can be computed without folding a long log.
    pub(crate) fn is_near(&self, viewer: Viewer, from: u64) -> bool {
        let known = self.known_head();
        let kept = self.kept();
        let knowledge = kept.viewers.as_ref().and_then(|viewers| viewers.get(&viewer));
        let settled = knowledge.and_then(|knowledge| knowledge.nearest(from)).map_or(0, |near| near.settled);
        known.saturating_sub(settled) <= SHORT_LOG
    }

    pub(crate) fn delta_in_memory(&self, viewer: Viewer, from: u64) -> Option<Arc<Delta>> {
        let known = self.known_head();
        self.kept().deltas.get(&(viewer, from)).filter(|delta| delta.to == known).cloned()
    }

    pub(crate) fn keep_delta(&self, viewer: Viewer, from: u64, delta: &Arc<Delta>) {
        let mut kept = self.kept();
        if kept.followers == 0 {
            return;
        }
        if kept.deltas.len() >= DELTAS_MAX {
            kept.deltas.clear();
        }
        kept.deltas.insert((viewer, from), Arc::clone(delta));
    }
}

/// What a view takes in memory in addition to its text.
const VIEW_BYTES: u64 = 256;

/// SV-27: the position at the head of a branch, with cached views.
pub(crate) struct HeadState {
    pub(crate) position: PlayPosition,
    /// The estimated memory of the state.
    pub(crate) state_bytes: u64,
    /// The views that were asked for.
    pub(crate) shown: BTreeMap<Viewer, CachedView>,
    share: MemoryShare,
}

#[derive(Clone, Debug)]
pub(crate) struct CachedView {
    /// What `show --format json` prints.
    pub(crate) json: Bytes,
    pub(crate) tag: String,
}

impl CachedView {
    pub(crate) fn of(viewer: Viewer, state: &dyn AnyState) -> Self {
        let json = json_text(&viewer.view_json(state));
        let tag = tag_of(viewer, json.trim_end());
        Self { json: json.into(), tag }
    }
}

impl HeadState {
    pub(crate) fn new(position: PlayPosition, memory: &Memory) -> Self {
        let state_bytes = state_memory(position.state.state_bytes().len() as u64);
        Self { position, state_bytes, shown: BTreeMap::new(), share: memory.share(state_bytes) }
    }

    pub(crate) fn shown(&mut self, viewer: Viewer) -> CachedView {
        if let Some(shown) = self.shown.get(&viewer) {
            return shown.clone();
        }
        let shown = CachedView::of(viewer, self.position.state.as_ref());
        // SV-27: views are counted, too.
        self.share.set(self.share.bytes + shown.json.len() as u64 + VIEW_BYTES);
        self.shown.insert(viewer, shown.clone());
        shown
    }

    pub(crate) fn played_by(&mut self, viewer: Viewer) -> (PlayPosition, CachedView) {
        let shown = self.shown(viewer);
        (self.position.fork(), shown)
    }
}
