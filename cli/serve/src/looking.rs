//! What a viewer sees of a branch: positions and records, and what is new between heads, computed once for all clients
//! (SV-17 to SV-19).

use std::sync::{Arc, PoisonError};

use turnfold_core::{AnyState, Digest};
use turnfold_history::{HistorySource, MatchStanding, Revision, SeatHistory, SourceName, Viewer};
use turnfold_show::render::WhoseTurn;

use crate::event_id::{EventId, NO_TIMES, mark_of};
use crate::knowledge::{Cursor, Delta, Knowledge, Known, Resumed};
use crate::open_branch::{CachedView, OpenBranch};
use crate::problem::{ApiResult, Problem};
use crate::world::World;

/// How many wholly shown entries may follow the settled ones before they are settled, too.
const UNSETTLED_MAX: u64 = 256;

/// Heads are in the log's numbering. An optional `at` is an entry in the viewer's numbering; `None` is the head.
#[derive(Clone, Copy)]
pub(crate) struct Looking<'a> {
    branch: &'a OpenBranch,
    world: &'a World,
    viewer: Viewer,
}

impl OpenBranch {
    pub(crate) fn seen_by<'a>(&'a self, world: &'a World, viewer: Viewer) -> Looking<'a> {
        Looking { branch: self, world, viewer }
    }

    pub(crate) fn head(&self, world: &World) -> ApiResult<u64> {
        self.current(world, |current| current.position.head)
    }

    pub(crate) fn state_of_log(&self, world: &World, seq: u64) -> ApiResult<Box<dyn AnyState>> {
        Ok(HistorySource::open(&SourceName::Revision(self.revision.at(seq)), world)?.state(None)?)
    }
}

impl Looking<'_> {
    pub(crate) fn shown(self) -> ApiResult<CachedView> {
        self.branch.current(self.world, |current| current.shown(self.viewer))
    }

    pub(crate) fn state(self, at: Option<u64>) -> ApiResult<Box<dyn AnyState>> {
        match at {
            None => self.branch.current(self.world, |current| current.position.state.fork()),
            Some(at) if self.viewer.sees_all() => self.branch.state_of_log(self.world, at),
            Some(at) => Ok(self.history(None)?.state_at(at)?),
        }
    }

    pub(crate) fn standing(self, at: Option<u64>, state: &dyn AnyState) -> ApiResult<MatchStanding> {
        match self.viewer.standing(state) {
            Some(standing) => Ok(standing),
            None => Ok(self.history(at)?.standing()?),
        }
    }

    pub(crate) fn whose_turn(self, state: &dyn AnyState, seq: u64) -> ApiResult<WhoseTurn> {
        match WhoseTurn::seen_by(self.viewer, state) {
            Some(turn) => Ok(turn),
            None => Ok(WhoseTurn::of_history(&self.history_of_log(seq)?)?),
        }
    }

    pub(crate) fn history(self, at: Option<u64>) -> ApiResult<SeatHistory> {
        let history = self.history_of_log(self.branch.head(self.world)?)?;
        match at {
            Some(at) => Ok(history.up_to(at)?),
            None => Ok(history),
        }
    }

    pub(crate) fn history_of_log(self, at: u64) -> ApiResult<SeatHistory> {
        let mut source = self.branch.source(self.world)?;
        source.cut_after(at);
        if self.viewer.sees_all() {
            return Ok(SeatHistory::of_source(self.viewer, source)?);
        }
        // Messages have no number of the log, which would show how many entries are concealed.
        Ok(self.folded(|knowledge| self.known(knowledge, at))?.history.read_from(source))
    }

    pub(crate) fn head(self) -> ApiResult<u64> {
        if self.viewer.sees_all() { self.branch.head(self.world) } else { Ok(self.history(None)?.head()) }
    }

    pub(crate) fn delta(self, from: u64) -> ApiResult<Arc<Delta>> {
        let Self { branch, world, viewer } = self;
        if let Some(delta) = branch.delta_in_memory(viewer, from) {
            return Ok(delta);
        }
        let (to, shown) = branch.current(world, |head| (head.position.head, head.shown(viewer)))?;
        self.folded(|knowledge| {
            // Another thread may have computed it in the meantime.
            if let Some(delta) = branch.delta_in_memory(viewer, from) {
                return Ok(delta);
            }
            let cursor = self.cursor(knowledge, from)?;
            let entries = branch.entries(world, cursor.settled, to)?;
            let count = usize::try_from(from - cursor.settled).unwrap_or(usize::MAX);
            let sent = entries.get(..count).unwrap_or(&entries);
            let earlier = cursor.see(sent, true)?;
            let now = cursor.see(&entries, true)?;
            // Settle only what was wholly shown at the earlier head, because the cursor serves clients with that head.
            let cursor = cursor.settle(from, &earlier.history, sent, branch.share_of_state())?;
            knowledge.keep(cursor);
            if !viewer.sees_all() {
                self.note(knowledge, from, &earlier)?;
            }
            let id = self.note(knowledge, to, &now)?;
            let delta = Delta::between((from, &earlier), (to, &now), shown.tag, &id, &branch.memory);
            let delta = Arc::new(delta);
            branch.keep_delta(viewer, from, &delta);
            Ok(delta)
        })
    }

    pub(crate) fn event_id(self, at: u64) -> ApiResult<EventId> {
        if self.viewer.sees_all() {
            return Ok(EventId { head: at, mark: Some(self.mark(at, NO_TIMES)?) });
        }
        self.folded(|knowledge| {
            let known = self.known(knowledge, at)?;
            self.note(knowledge, at, &known)
        })
    }

    pub(crate) fn resume(self, id: &EventId, may_fold: bool) -> ApiResult<Resumed> {
        let head = self.branch.head(self.world)?;
        // A viewer cannot see more entries than there are.
        if id.head > head {
            return Ok(Resumed::NotYet);
        }
        if id.head == 0 || self.viewer.sees_all() {
            let is_same = id.mark.is_none() || *id == self.event_id(id.head)?;
            return Ok(if is_same { Resumed::Behind(id.head) } else { Resumed::Other });
        }
        self.folded(|knowledge| {
            loop {
                match knowledge.noted.resumed(id, head) {
                    Resumed::Folds(at) if may_fold => {
                        let known = self.known(knowledge, at)?;
                        self.note(knowledge, at, &known)?;
                    }
                    resumed => return Ok(resumed),
                }
            }
        })
    }

    /// Calls `fold` with what the viewer knows. Other threads that fold the branch wait.
    fn folded<T>(self, fold: impl FnOnce(&mut Knowledge) -> ApiResult<T>) -> ApiResult<T> {
        let viewers = self.branch.viewers();
        let mut viewers = viewers.lock().unwrap_or_else(PoisonError::into_inner);
        fold(viewers.entry(self.viewer).or_default())
    }

    /// Returns a cursor that serves a client with this head.
    fn cursor(self, knowledge: &mut Knowledge, head: u64) -> ApiResult<&Cursor> {
        let Self { branch, world, viewer } = self;
        if knowledge.nearest(head).is_none() {
            let start = branch.source(world)?.history;
            let share = branch.share_of_state();
            let cursor = if viewer.sees_all() {
                Cursor::new(viewer, start, head, branch.state_of_log(world, head)?, share)
            } else {
                let state = start.start()?;
                let cursor = Cursor::new(viewer, start, 0, state, share);
                let entries = branch.entries(world, 0, head)?;
                let known = cursor.see(&entries, false)?;
                cursor.settle(head, &known.history, &entries, branch.share_of_state())?
            };
            knowledge.keep(cursor);
        }
        knowledge.nearest(head).ok_or_else(Problem::internal)
    }

    fn known(self, knowledge: &mut Knowledge, at: u64) -> ApiResult<Known> {
        let cursor = self.cursor(knowledge, at)?;
        let entries = self.branch.entries(self.world, cursor.settled, at)?;
        let known = cursor.see(&entries, false)?;
        if known.history.settled() > cursor.settled + UNSETTLED_MAX {
            let cursor = cursor.settle(at, &known.history, &entries, self.branch.share_of_state())?;
            knowledge.keep(cursor);
        }
        Ok(known)
    }

    fn note(self, knowledge: &mut Knowledge, at: u64, known: &Known) -> ApiResult<EventId> {
        let id = EventId { head: known.history.head(), mark: Some(self.mark(at, known.times)?) };
        knowledge.noted.note(at, id.clone(), &self.branch.memory);
        Ok(id)
    }

    fn mark(self, at: u64, times: Digest) -> ApiResult<String> {
        let match_id = self.branch.match_id(self.world)?;
        if !self.viewer.sees_all() {
            return Ok(mark_of(self.viewer, &match_id, &times));
        }
        let Revision { match_name, branch, .. } = &self.branch.revision;
        let links = self.world.store.links(match_name, branch, at..=at)?;
        Ok(mark_of(self.viewer, &match_id, links.last().ok_or_else(Problem::internal)?))
    }
}
