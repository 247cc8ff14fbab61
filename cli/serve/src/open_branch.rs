//! One branch in memory: its head state, what viewers know of it, and its watched head (SV-17, SV-27).

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{MutexGuard, OnceLock};

use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard, watch};
use turnfold_core::any::FaultOf;
use turnfold_history::session::PlayPosition;
use turnfold_history::{HistorySource, LogEntry};
use turnfold_store::{BranchId, NamedBranch};

use crate::auth::derived_hash;
use crate::branch_cache::{BRANCH_BYTES, BranchNames, Memory, MemoryShare, state_memory};
use crate::http::json_text;
use crate::knowledge::{Delta, Viewers};
use crate::limits::WAITING_MAX;
use crate::prelude::*;

/// If judging took less time, the next commands are judged without a thread, which costs some tens of microseconds.
const QUICK: Duration = Duration::from_micros(200);

/// The most deltas to keep. Clients that follow closely ask for the same few.
const DELTAS_MAX: usize = 256;

pub(crate) struct OpenBranch {
    pub(crate) revision: Revision,
    /// The branch's id, even if another branch has its name now.
    pub(crate) id: BranchId,
    match_id: OnceLock<[u8; 16]>,
    /// Held by the task that appends.
    turn: Arc<AsyncMutex<()>>,
    /// Held by the stream whose delta is being computed. Other streams wait for it without a thread.
    pub(crate) following: AsyncMutex<()>,
    /// The durable head; `None` once the branch is deleted.
    pub(crate) watched: watch::Sender<Option<u64>>,
    followers: AtomicUsize,
    /// Whether the match was on this branch and left it (SV-65); `None` if that is not known.
    pub(crate) is_left: Mutex<Option<bool>>,
    kept: Mutex<Kept>,
    /// Held by the thread that reads the head state. Others wait for what it reads.
    reading: Mutex<()>,
    pub(crate) memory: Memory,
    _share: MemoryShare,
}

/// What is kept in memory of a branch. Its lock is held only for moments.
#[derive(Default)]
struct Kept {
    current: Option<HeadState>,
    /// Whether the last commands were judged quickly.
    is_judged_quickly: bool,
    /// What is new to viewers after an earlier head, for other followers.
    deltas: BTreeMap<(Viewer, u64), Arc<Delta>>,
    /// What viewers know, held by the thread that folds for one of them. It is replaced when the branch is forgotten, so
    /// that nothing is kept of what was read before.
    viewers: Arc<Mutex<Viewers>>,
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
}

pub(crate) struct Following(pub(crate) Arc<OpenBranch>);

impl Following {
    pub(crate) fn new(branch: Arc<OpenBranch>) -> Self {
        branch.followers.fetch_add(1, Ordering::Relaxed);
        Self(branch)
    }
}

impl Drop for Following {
    fn drop(&mut self) {
        if self.0.followers.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.0.kept().deltas.clear();
        }
    }
}

impl OpenBranch {
    pub(crate) fn new((match_name, branch): BranchNames, head: BranchHead, memory: &Memory) -> Self {
        Self {
            revision: Revision { match_name, branch, seq: None },
            id: head.id,
            match_id: OnceLock::new(),
            turn: Arc::default(),
            following: AsyncMutex::default(),
            watched: watch::Sender::new(Some(head.seq)),
            followers: AtomicUsize::new(0),
            is_left: Mutex::default(),
            kept: Mutex::default(),
            reading: Mutex::default(),
            memory: memory.clone(),
            _share: memory.share(BRANCH_BYTES),
        }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        lock(&self.kept)
    }

    pub(crate) fn viewers(&self) -> Arc<Mutex<Viewers>> {
        Arc::clone(&self.kept().viewers)
    }

    pub(crate) fn match_id(&self, app: &App) -> ApiResult<[u8; 16]> {
        if let Some(id) = self.match_id.get() {
            return Ok(*id);
        }
        let id = app.store.genesis(&self.revision.match_name)?.match_id;
        Ok(*self.match_id.get_or_init(|| id))
    }

    pub(crate) fn named(&self) -> NamedBranch {
        let Revision { match_name, branch, .. } = self.revision.clone();
        NamedBranch { match_name, branch, id: self.id }
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
        self.followers.load(Ordering::Relaxed) > 0
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
        // What a waiting command or another thread uses stays in memory.
        if Arc::strong_count(&self.turn) == 1
            && let Ok(mut kept) = self.kept.try_lock()
        {
            kept.current = None;
            kept.deltas.clear();
            if let Some(viewers) = Arc::get_mut(&mut kept.viewers) {
                *viewers = Mutex::default();
            }
        }
    }

    pub(crate) fn forget(&self) {
        *self.kept() = Kept::default();
    }

    pub(crate) fn discard(&self, at_fault: &FaultOf) {
        let mut kept = self.kept();
        // If nothing is in memory, the failed module or referee may play the branch.
        if kept.current.as_ref().is_none_or(|current| at_fault.is(&*current.position.rules)) {
            *kept = Kept::default();
        }
    }

    /// Replaces the head state after an append has become durable, and announces the new head.
    pub(crate) fn publish(&self, current: HeadState) {
        let head = current.position.head;
        self.kept().put(current);
        self.announce(head);
    }

    pub(crate) fn current<T>(&self, app: &App, look: impl FnOnce(&mut HeadState) -> T) -> ApiResult<T> {
        if let Some(current) = self.kept().at(self.known_head()) {
            return Ok(look(current));
        }
        let _reading = lock(&self.reading);
        let known = self.known_head();
        let mut kept = self.kept();
        // Another thread may have read it in the meantime.
        if let Some(current) = kept.at(known) {
            return Ok(look(current));
        }
        let behind = kept.current.as_ref().map(|current| current.position.fork());
        let viewers = Arc::clone(&kept.viewers);
        drop(kept);
        // FL-18: if the state in memory is behind, only the missing entries are read.
        let position = match behind {
            Some(behind) if self.is_played_by(app, &behind)? => {
                let entries = self.entries(app, behind.head, known)?;
                behind.follow(&self.revision, &entries)?
            }
            _ => self.load(app)?,
        };
        let mut read = HeadState::new(position, &self.memory);
        self.announce(read.position.head);
        let mut kept = self.kept();
        let is_forgotten = !Arc::ptr_eq(&kept.viewers, &viewers);
        Ok(look(if is_forgotten { &mut read } else { kept.put(read) }))
    }

    pub(crate) fn note_judging(&self, time: Duration) {
        self.kept().is_judged_quickly = time < QUICK;
    }

    /// Returns the position in memory and what a viewer sees of it, if the last commands were judged quickly there.
    pub(crate) fn quick_position(&self, viewer: Viewer) -> Option<(PlayPosition, CachedView)> {
        let known = self.known_head();
        let mut kept = self.kept.try_lock().ok().filter(|kept| kept.is_judged_quickly)?;
        let current = kept.at(known)?;
        Some((current.position.fork(), current.shown(viewer)))
    }

    fn is_played_by(&self, app: &App, current: &PlayPosition) -> ApiResult<bool> {
        let Some(module) = current.rules.module() else { return Ok(true) };
        let genesis = app.store.genesis(&self.revision.match_name)?;
        // MD-9: another module than the one that folded the state may play the match now.
        Ok(genesis.only_module().is_none_or(|only| *only == module))
    }

    fn load(&self, app: &App) -> ApiResult<PlayPosition> {
        app.metrics.table_misses.inc();
        let current = self.source(app)?.position(Some(&app.store))?;
        let Revision { match_name, branch, .. } = &self.revision;
        // If another branch has the name by now, what was read may be of that branch.
        if app.store.is_shared() && app.store.branch_head(match_name, branch)?.id != self.id {
            return Err(self.gone());
        }
        Ok(current)
    }

    pub(crate) fn source(&self, app: &App) -> ApiResult<HistorySource> {
        let build = app.outside.build;
        Ok(HistorySource::of_branch(&self.revision, &app.store, &app.registry, build)?)
    }

    pub(crate) fn entries(&self, app: &App, after: u64, to: u64) -> ApiResult<Vec<LogEntry>> {
        let entries = app.store.entries_of(&self.named(), after + 1..=to)?;
        Ok(entries.map(|entry| entry.map(LogEntry::from)).collect::<Result<_, _>>()?)
    }

    pub(crate) fn shown_in_memory(&self, viewer: Viewer) -> Option<CachedView> {
        let kept = self.kept.try_lock().ok()?;
        let (shown, _) = kept.current.as_ref()?.shown.get(&viewer)?;
        Some(shown.clone())
    }

    pub(crate) fn share_of_state(&self) -> MemoryShare {
        self.memory.share(self.kept().current.as_ref().map_or(0, |current| current.share.bytes))
    }

    pub(crate) fn delta_in_memory(&self, viewer: Viewer, from: u64) -> Option<Arc<Delta>> {
        let known = self.known_head();
        self.kept().deltas.get(&(viewer, from)).filter(|delta| delta.to == known).cloned()
    }

    pub(crate) fn keep_delta(&self, viewer: Viewer, from: u64, delta: &Arc<Delta>) {
        let mut kept = self.kept();
        if !self.is_followed() {
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
    share: MemoryShare,
    /// The views that were asked for.
    shown: BTreeMap<Viewer, (CachedView, MemoryShare)>,
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

const TAG_DIGITS: usize = 32;

fn tag_of(viewer: Viewer, view: &str) -> String {
    // Only what the viewer sees counts, so a concealed change neither shows in the tag nor refuses a player's command.
    let viewer = viewer.to_string();
    let parts = [viewer.as_bytes(), &[0], view.as_bytes()];
    let hash = derived_hash("turnfold v1 view tag", &parts).to_hex();
    format!("\"{}\"", hash.get(..TAG_DIGITS).unwrap_or_default())
}

impl HeadState {
    pub(crate) fn new(position: PlayPosition, memory: &Memory) -> Self {
        let share = memory.share(state_memory(position.state.state_bytes().len() as u64));
        Self { position, share, shown: BTreeMap::new() }
    }

    pub(crate) fn shown(&mut self, viewer: Viewer) -> CachedView {
        if let Some((shown, _)) = self.shown.get(&viewer) {
            return shown.clone();
        }
        let shown = CachedView::of(viewer, self.position.state.as_ref());
        // SV-27: views are counted, too.
        let share = self.share.memory.share(shown.json.len() as u64 + VIEW_BYTES);
        self.shown.insert(viewer, (shown.clone(), share));
        shown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_differ_by_viewer_and_view() {
        let tag = |seat: &str, view| tag_of(seat.parse().unwrap(), view);
        assert_eq!(tag("p1", "{}").len(), TAG_DIGITS + 2);
        assert_ne!(tag("p1", "{}"), tag("p2", "{}"));
        assert_ne!(tag("p1", "{}"), tag("p1", "{} "));
    }
}
