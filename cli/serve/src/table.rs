//! One branch in use: its state at the head, what viewers see of it, and the head that is watched (SV-17, SV-27).

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use tokio::sync::{Mutex as AsyncMutex, MutexGuard as AsyncMutexGuard, OwnedMutexGuard, watch};
use turnfold_core::{AnyRules, AnyState, DicePolicy};
use turnfold_replay::{Eyes, LineOfPlay, Position, Revision, Sight, SourceName, Tail};
use turnfold_store::StoreError;

use crate::auth::Viewpoint;
use crate::http::json_text;
use crate::limits::{WAITING_MAX, Waiting};
use crate::problem::{Answer, Problem};
use crate::steps::Steps;
use crate::tag::tag_of;
use crate::world::World;

/// What is watched of a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Watched {
    /// Its durable head.
    Head(u64),
    /// It is deleted.
    Gone,
}

/// A branch in use.
pub(crate) struct Table {
    line: Revision,
    /// Held by whoever appends.
    turn: Arc<AsyncMutex<()>>,
    waiting: AtomicUsize,
    current: Mutex<Option<Current>>,
    watched: watch::Sender<Watched>,
    /// Held by whoever works out what followers are told; the others wait for that and take no thread.
    following: AsyncMutex<()>,
    pub(crate) steps: Steps,
    /// The last entries shown to those who look so many seconds late.
    shown_late: Mutex<BTreeMap<u64, u64>>,
    used: AtomicU64,
    bytes: AtomicU64,
}

/// Where a branch stands.
pub(crate) struct Current {
    pub(crate) rules: &'static dyn AnyRules,
    pub(crate) dice: DicePolicy,
    /// The number of the last entry in the log.
    pub(crate) head: u64,
    pub(crate) state: Box<dyn AnyState>,
    /// How many bytes the state has.
    bytes: u64,
    /// What viewers see, those who asked.
    shown: BTreeMap<Eyes, Shown>,
}

/// A view as it is answered, and its tag.
#[derive(Clone, Debug)]
pub(crate) struct Shown {
    /// What `show --format json` prints.
    pub(crate) json: Bytes,
    pub(crate) tag: String,
}

impl Shown {
    pub(crate) fn of(eyes: Eyes, state: &dyn AnyState) -> Self {
        let json = json_text(&eyes.view_json(state));
        let tag = tag_of(eyes, json.trim_end());
        Self { json: json.into(), tag }
    }
}

impl Current {
    pub(crate) fn new(
        rules: &'static dyn AnyRules,
        dice: DicePolicy,
        head: u64,
        state: Box<dyn AnyState>,
    ) -> Self {
        let bytes = state.state_bytes().len() as u64;
        Self { rules, dice, head, state, bytes, shown: BTreeMap::new() }
    }

    /// Returns what a viewer sees at the head.
    pub(crate) fn shown(&mut self, eyes: Eyes) -> Shown {
        let Self { state, shown, .. } = self;
        shown.entry(eyes).or_insert_with(|| Shown::of(eyes, state.as_ref())).clone()
    }
}

impl Table {
    pub(crate) fn new(line: Revision, head: u64) -> Self {
        Self {
            line,
            turn: Arc::default(),
            waiting: AtomicUsize::new(0),
            current: Mutex::default(),
            watched: watch::Sender::new(Watched::Head(head)),
            following: AsyncMutex::default(),
            steps: Steps::default(),
            shown_late: Mutex::default(),
            used: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
        }
    }

    /// Returns the branch.
    pub(crate) fn line(&self) -> &Revision {
        &self.line
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
    pub(crate) async fn turn(&self) -> Answer<OwnedMutexGuard<()>> {
        let _waiting = Waiting::among(&self.waiting, WAITING_MAX)
            .ok_or_else(|| Problem::overloaded("too many commands wait for this branch"))?;
        Ok(Arc::clone(&self.turn).lock_owned().await)
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
    pub(crate) fn require_there(&self) -> Answer<()> {
        let Revision { match_name, branch, .. } = self.line.clone();
        match *self.watched.borrow() {
            Watched::Head(_) => Ok(()),
            Watched::Gone => Err(StoreError::NoSuchBranch { match_name, branch }.into()),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Current>> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Forgets the state to make room, unless somebody looks at it just now.
    pub(crate) fn forget_if_idle(&self) {
        if let Ok(mut current) = self.current.try_lock() {
            *current = None;
            self.steps.forget_if_idle();
            self.bytes.store(0, Ordering::Relaxed);
        }
    }

    /// Forgets the state, which is then read anew.
    pub(crate) fn forget(&self) {
        *self.lock() = None;
        self.steps.forget();
        self.bytes.store(0, Ordering::Relaxed);
    }

    /// Takes what was appended, once that is durable.
    pub(crate) fn publish(&self, current: Current) {
        let head = current.head;
        let mut place = self.lock();
        if place.as_ref().is_some_and(|old| old.head >= head) {
            return;
        }
        self.count(&current);
        *place = Some(current);
        drop(place);
        self.announce(head);
    }

    /// A state takes about twice its bytes (SV-27).
    fn count(&self, current: &Current) {
        self.bytes.store(current.bytes.saturating_mul(2), Ordering::Relaxed);
    }

    fn announce(&self, head: u64) {
        self.watched.send_if_modified(|watched| {
            let is_later = matches!(*watched, Watched::Head(old) if old < head);
            if is_later {
                *watched = Watched::Head(head);
            }
            is_later
        });
    }

    /// Looks at where the branch stands, which is read from the store if it is not in memory.
    pub(crate) fn current<T>(&self, world: &World, look: impl FnOnce(&mut Current) -> T) -> Answer<T> {
        let mut place = self.lock();
        let current = match &mut *place {
            Some(current) => current,
            empty => {
                world.metrics.table_misses.inc();
                let current = load(&self.line, world)?;
                self.count(&current);
                self.announce(current.head);
                empty.insert(current)
            }
        };
        Ok(look(current))
    }

    /// Returns the number of the last entry of the log that a viewer may know of; those who look late are shown the
    /// match as if it ended before the first entry of the last seconds (SV-24).
    pub(crate) fn head(&self, world: &World, view: Viewpoint) -> Answer<u64> {
        let head = self.current(world, |current| current.head)?;
        if view.delay_s == 0 {
            return Ok(head);
        }
        let since = world
            .now_ms()
            .saturating_sub(i64::try_from(view.delay_s).unwrap_or(i64::MAX).saturating_mul(1000));
        let mut late = self.shown_late.lock().unwrap_or_else(PoisonError::into_inner);
        let shown = late.entry(view.delay_s).or_default();
        for entry in world.store.entries(&self.line.match_name, &self.line.branch, *shown + 1..=head)? {
            let entry = entry?;
            if entry.recorded_at_ms > since {
                break;
            }
            *shown = entry.seq;
        }
        Ok(*shown)
    }

    /// Refuses a branch that begins after what a viewer may know of.
    pub(crate) fn require_known(&self, world: &World, view: Viewpoint) -> Answer<()> {
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

    /// Returns what a viewer sees at its head if that was worked out before and nobody else uses it just now.
    pub(crate) fn shown_in_memory(&self, view: Viewpoint) -> Option<Shown> {
        let current = self.current.try_lock().ok()?;
        let shown = current.as_ref()?.shown.get(&view.eyes).cloned();
        shown.filter(|_| view.delay_s == 0)
    }

    /// Returns what a viewer sees at its head.
    pub(crate) fn shown(&self, world: &World, view: Viewpoint) -> Answer<Shown> {
        if view.delay_s == 0 {
            return self.current(world, |current| current.shown(view.eyes));
        }
        Ok(Shown::of(view.eyes, self.state(world, view, None)?.as_ref()))
    }

    /// Returns the state at an entry, as the viewer counts, or at its head.
    pub(crate) fn state(&self, world: &World, view: Viewpoint, at: Option<u64>) -> Answer<Box<dyn AnyState>> {
        let head = self.head(world, view)?;
        match at {
            None => {
                let state =
                    self.current(world, |current| (current.head == head).then(|| current.state.fork()))?;
                state.map_or_else(|| self.state_of_log(world, head), Ok)
            }
            Some(at) if view.eyes.see_all() => self.state_of_log(world, at),
            Some(_) => Ok(self.sight(world, view, at)?.state()?),
        }
    }

    /// Returns the state after an entry, as the log counts, from the nearest snapshot.
    pub(crate) fn state_of_log(&self, world: &World, seq: u64) -> Answer<Box<dyn AnyState>> {
        Ok(Position::seek(&SourceName::Revision(self.line.at(seq)), world)?)
    }

    /// Looks at the line of play up to an entry, as the viewer counts, or to its head.
    pub(crate) fn sight(&self, world: &World, view: Viewpoint, at: Option<u64>) -> Answer<Sight> {
        let head = self.head(world, view)?;
        let log = world.store.read(&self.line.match_name, &self.line.branch, Some(head))?;
        let sight = Sight::of(view.eyes, LineOfPlay::of_log(&self.line, log, &world.registry)?)?;
        match at {
            Some(at) => Ok(sight.up_to(at)?),
            None => Ok(sight),
        }
    }
}

fn load(line: &Revision, world: &World) -> Answer<Current> {
    let keeper = Some(&world.store);
    let position = Position::before_entries_of(
        Tail::last(0),
        line,
        &world.registry,
        &world.store,
        world.outside.build.as_ref(),
        keeper,
    )?;
    Ok(Current::new(position.rules, position.dice, position.head, position.state))
}
