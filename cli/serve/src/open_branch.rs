//! One branch in use: where it stands, and the head that is watched (SV-17, SV-27).

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Mutex as AsyncMutex, MutexGuard as AsyncMutexGuard, OwnedMutexGuard, watch};
use turnfold_core::AnyState;
use turnfold_replay::{History, Position, Revision, SeatHistory, SourceName};
use turnfold_store::{BranchHead, BranchId, NamedBranch, StoreError};

use crate::auth::Viewpoint;
use crate::deltas::Deltas;
use crate::head_state::{CachedView, HeadState};
use crate::limits::{WAITING_MAX, Waiting};
use crate::problem::{ApiResult, Problem};
use crate::world::World;

/// What is judged in less time is judged at once the next time; a thread for it takes some tens of microseconds.
const QUICK: Duration = Duration::from_micros(200);

/// What is watched of a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Watched {
    /// Its durable head.
    Head(u64),
    /// It is deleted.
    Gone,
}

/// A branch in use.
pub(crate) struct OpenBranch {
    line: Revision,
    id: BranchId,
    /// When it was made, as uses are counted.
    made: u64,
    /// Held by whoever appends.
    turn: Arc<AsyncMutex<()>>,
    waiting: AtomicUsize,
    place: Mutex<Place>,
    /// Held by whoever reads where it stands, so that nobody else has to wait for the store to look at it.
    reading: Mutex<()>,
    watched: watch::Sender<Watched>,
    /// Held by whoever works out what followers are told; the others wait for that and take no thread.
    following: AsyncMutex<()>,
    pub(crate) steps: Deltas,
    /// The last entries shown to those who look so many seconds late.
    shown_late: Mutex<BTreeMap<u64, u64>>,
    is_judged_quickly: AtomicBool,
    used: AtomicU64,
    bytes: AtomicU64,
}

/// Where the branch stands, if that is in memory.
#[derive(Default)]
struct Place {
    current: Option<HeadState>,
    /// Counts how often it was forgotten: what was read before that is not kept.
    forgotten: u64,
}

impl Place {
    /// Returns where the branch stands, if that is at or behind a head.
    fn at(&mut self, head: u64) -> Option<&mut HeadState> {
        self.current.as_mut().filter(|current| current.head >= head)
    }
}

impl OpenBranch {
    pub(crate) fn new(line: Revision, BranchHead { id, seq: head }: BranchHead, made: u64) -> Self {
        Self {
            line,
            id,
            made,
            turn: Arc::default(),
            waiting: AtomicUsize::new(0),
            place: Mutex::default(),
            reading: Mutex::default(),
            watched: watch::Sender::new(Watched::Head(head)),
            following: AsyncMutex::default(),
            steps: Deltas::default(),
            shown_late: Mutex::default(),
            is_judged_quickly: AtomicBool::new(false),
            used: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
        }
    }

    /// Returns the branch.
    pub(crate) fn line(&self) -> &Revision {
        &self.line
    }

    /// Returns which branch it is, whatever has its name now.
    pub(crate) fn id(&self) -> BranchId {
        self.id
    }

    /// Returns the branch and its names.
    pub(crate) fn named(&self) -> NamedBranch {
        let Revision { match_name, branch, .. } = self.line.clone();
        NamedBranch { match_name, branch, id: self.id }
    }

    /// Returns when it was made.
    pub(crate) fn made(&self) -> u64 {
        self.made
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    pub(crate) fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }

    pub(crate) fn use_at(&self, time: u64) {
        self.used.store(time, Ordering::Relaxed);
    }

    /// Returns `true` if a command waits for the branch.
    pub(crate) fn is_awaited(&self) -> bool {
        self.waiting.load(Ordering::Acquire) > 0
    }

    /// Waits until no other command is judged on the branch.
    pub(crate) async fn turn(&self) -> ApiResult<OwnedMutexGuard<()>> {
        let _waiting = Waiting::among(&self.waiting, WAITING_MAX)
            .ok_or_else(|| Problem::overloaded("too many commands wait for this branch"))?;
        Ok(Arc::clone(&self.turn).lock_owned().await)
    }

    /// Returns `true` if somebody follows it.
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

    /// Watches the head.
    pub(crate) fn watch(&self) -> watch::Receiver<Watched> {
        self.watched.subscribe()
    }

    /// Waits until nobody else works out what followers are told. It may be worked out then.
    pub(crate) async fn following(&self) -> AsyncMutexGuard<'_, ()> {
        self.following.lock().await
    }

    /// Says that the branch is deleted.
    pub(crate) fn end(&self) {
        self.watched.send_replace(Watched::Gone);
        self.forget();
    }

    /// Refuses a branch that was deleted while its turn was waited for; another of its name has a table of its own.
    pub(crate) fn require_there(&self) -> ApiResult<()> {
        match *self.watched.borrow() {
            Watched::Head(_) => Ok(()),
            Watched::Gone => Err(self.gone()),
        }
    }

    fn gone(&self) -> Problem {
        let Revision { match_name, branch, .. } = self.line.clone();
        StoreError::NoSuchBranch { match_name, branch }.into()
    }

    fn lock(&self) -> MutexGuard<'_, Place> {
        self.place.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Forgets the state to make room, unless somebody looks at it just now.
    pub(crate) fn forget_if_idle(&self) {
        if let Ok(mut place) = self.place.try_lock() {
            place.current = None;
            self.steps.forget_if_idle();
            self.bytes.store(0, Ordering::Relaxed);
        }
    }

    /// Forgets the state, which is then read anew.
    pub(crate) fn forget(&self) {
        let mut place = self.lock();
        *place = Place { current: None, forgotten: place.forgotten + 1 };
        self.bytes.store(0, Ordering::Relaxed);
        drop(place);
        self.steps.forget();
    }

    /// Takes what was appended, once that is durable.
    pub(crate) fn publish(&self, current: HeadState) {
        let head = current.head;
        let mut place = self.lock();
        if place.at(head).is_some() {
            return;
        }
        self.count(&current);
        place.current = Some(current);
        drop(place);
        self.announce(head);
    }

    /// A state takes about twice its bytes (SV-27).
    fn count(&self, current: &HeadState) {
        self.bytes.store(current.bytes.saturating_mul(2), Ordering::Relaxed);
    }

    /// Says that the branch has an entry.
    pub(crate) fn announce(&self, head: u64) {
        self.watched.send_if_modified(|watched| {
            let is_later = matches!(*watched, Watched::Head(old) if old < head);
            if is_later {
                *watched = Watched::Head(head);
            }
            is_later
        });
    }

    /// Looks at where the branch stands, which is read from the store if it is not in memory, or as far as it is behind
    /// what is known of the branch (FL-18).
    pub(crate) fn current<T>(&self, world: &World, look: impl FnOnce(&mut HeadState) -> T) -> ApiResult<T> {
        let known = self.known_head();
        if let Some(current) = self.lock().at(known) {
            return Ok(look(current));
        }
        let _reading = self.reading.lock().unwrap_or_else(PoisonError::into_inner);
        let (behind, forgotten) = {
            let mut place = self.lock();
            // Somebody else may have read it meanwhile.
            if let Some(current) = place.at(known) {
                return Ok(look(current));
            }
            (place.current.as_ref().map(HeadState::fork), place.forgotten)
        };
        let mut read = match behind {
            Some(behind) => {
                let entries = self.entries(world, behind.head, known)?;
                behind.follow(&self.line, &entries)?
            }
            None => self.load(world)?,
        };
        self.announce(read.head);
        let mut place = self.lock();
        let is_forgotten = place.forgotten != forgotten;
        Ok(look(match &mut place.current {
            _ if is_forgotten => &mut read,
            Some(newer) if newer.head >= read.head => newer,
            older => {
                self.count(&read);
                older.insert(read)
            }
        }))
    }

    fn load(&self, world: &World) -> ApiResult<HeadState> {
        world.metrics.table_misses.inc();
        let current = HeadState::load(&self.line, world)?;
        let Revision { match_name, branch, .. } = &self.line;
        // What was read under its name is another branch's, if that has the name by now.
        if world.store.is_shared() && world.store.branch_head(match_name, branch)?.id != self.id {
            return Err(self.gone());
        }
        Ok(current)
    }

    /// Returns the number of the last entry of the log that a viewer may know of; those who look late are shown the
    /// match as if it ended before the first entry of the last seconds (SV-24).
    pub(crate) fn head(&self, world: &World, view: Viewpoint) -> ApiResult<u64> {
        let head = self.current(world, |current| current.head)?;
        if view.delay_s == 0 {
            return Ok(head);
        }
        let since = world
            .now_ms()
            .saturating_sub(i64::try_from(view.delay_s).unwrap_or(i64::MAX).saturating_mul(1000));
        let mut late = self.shown_late.lock().unwrap_or_else(PoisonError::into_inner);
        let shown = late.entry(view.delay_s).or_default();
        for entry in world.store.entries_of(&self.named(), *shown + 1..=head)? {
            let entry = entry?;
            if entry.recorded_at_ms > since {
                break;
            }
            *shown = entry.seq;
        }
        Ok(*shown)
    }

    /// Refuses a branch that begins after what a viewer may know of.
    pub(crate) fn require_known(&self, world: &World, view: Viewpoint) -> ApiResult<()> {
        if view.delay_s == 0 {
            return Ok(());
        }
        let Revision { match_name, branch, .. } = &self.line;
        let branches = world.store.branches(match_name)?;
        let parent = branches.into_iter().find(|info| info.name == *branch).and_then(|info| info.parent);
        if parent.is_some_and(|(_, from)| self.head(world, view).is_ok_and(|head| head < from)) {
            let (match_name, branch) = (match_name.clone(), branch.clone());
            return Err(StoreError::NoSuchBranch { match_name, branch }.into());
        }
        Ok(())
    }

    /// Notes how long it took to judge commands and to work out what the host is shown.
    pub(crate) fn note_judging(&self, time: Duration) {
        self.is_judged_quickly.store(time < QUICK, Ordering::Relaxed);
    }

    /// Has the next command judged where the store can be asked about the line.
    pub(crate) fn judge_with_care(&self) {
        self.is_judged_quickly.store(false, Ordering::Relaxed);
    }

    /// Returns `true` if commands were judged quickly the last time, and where it stands is in memory and used by nobody
    /// else just now.
    pub(crate) fn is_quick(&self) -> bool {
        let known = self.known_head();
        self.is_judged_quickly.load(Ordering::Relaxed)
            && self.place.try_lock().is_ok_and(|mut place| place.at(known).is_some())
    }

    /// Returns what a viewer sees at its head if that was worked out before and nobody else uses it just now.
    pub(crate) fn shown_in_memory(&self, view: Viewpoint) -> Option<CachedView> {
        let place = self.place.try_lock().ok()?;
        place.current.as_ref().filter(|_| view.delay_s == 0)?.shown_before(view.viewer)
    }

    /// Returns what a viewer sees at its head.
    pub(crate) fn shown(&self, world: &World, view: Viewpoint) -> ApiResult<CachedView> {
        if view.delay_s == 0 {
            return self.current(world, |current| current.shown(view.viewer));
        }
        Ok(CachedView::of(view.viewer, self.state(world, view, None)?.as_ref()))
    }

    /// Returns the state at an entry, as the viewer counts, or at its head.
    pub(crate) fn state(
        &self,
        world: &World,
        view: Viewpoint,
        at: Option<u64>,
    ) -> ApiResult<Box<dyn AnyState>> {
        let head = self.head(world, view)?;
        match at {
            None => {
                let state =
                    self.current(world, |current| (current.head == head).then(|| current.state.fork()))?;
                state.map_or_else(|| self.state_of_log(world, head), Ok)
            }
            Some(at) if view.viewer.see_all() => self.state_of_log(world, at),
            Some(_) => Ok(self.sight(world, view, at)?.state()?),
        }
    }

    /// Returns the state after an entry, as the log counts, from the nearest snapshot.
    pub(crate) fn state_of_log(&self, world: &World, seq: u64) -> ApiResult<Box<dyn AnyState>> {
        Ok(Position::seek(&SourceName::Revision(self.line.at(seq)), world)?)
    }

    /// Looks at the history up to an entry, as the viewer counts, or to its head.
    pub(crate) fn sight(&self, world: &World, view: Viewpoint, at: Option<u64>) -> ApiResult<SeatHistory> {
        let head = self.head(world, view)?;
        let log = world.store.read(&self.line.match_name, &self.line.branch, Some(head))?;
        let sight = SeatHistory::of(view.viewer, History::of_log(&self.line, log, &world.registry)?)?;
        match at {
            Some(at) => Ok(sight.up_to(at)?),
            None => Ok(sight),
        }
    }
}
