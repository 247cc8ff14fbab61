//! What a viewer sees of a branch: positions and records, and what is new between heads, computed once for all clients
//! (SV-17 to SV-19).

use std::sync::Arc;

use turnfold_core::AnyState;
use turnfold_history::{HistorySource, LoggedRecord, MatchStanding, SeatHistory, SourceName, Viewer};
use turnfold_show::render::WhoseTurn;

use crate::event_id::{EventId, Times, mark_of};
use crate::knowledge::{Cursor, Delta, Knowledge, Known, Resumed};
use crate::open_branch::{CachedView, Folding, OpenBranch};
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
        Ok(HistorySource::open(&SourceName::Revision(self.revision().at(seq)), world)?.state(None)?)
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
        Ok(self.known(&mut self.branch.folding(), at)?.history.read_from(source))
    }

    pub(crate) fn entries(self) -> ApiResult<SeatHistory> {
        let head = self.branch.head(self.world)?;
        if self.viewer.sees_all() {
            return self.history_of_log(head);
        }
        // Of a player's history, only the numbers are there.
        Ok(self.known(&mut self.branch.folding(), head)?.history)
    }

    pub(crate) fn head(self) -> ApiResult<u64> {
        if self.viewer.sees_all() { self.branch.head(self.world) } else { Ok(self.entries()?.head()) }
    }

    /// Returns at most `limit` records after `after`, and the number of the last one if more follow.
    pub(crate) fn records(self, after: u64, limit: usize) -> ApiResult<(Vec<LoggedRecord>, Option<u64>)> {
        let history = self.history(None)?;
        history.require(after)?;
        let until = after.saturating_add(limit as u64);
        let head = history.head();
        let mut records = Vec::new();
        history.show(after, head.min(until), &mut |seen| records.push(seen.logged_record()))?;
        Ok((records, (head > until).then_some(until)))
    }

    pub(crate) fn delta(self, from: u64) -> ApiResult<Arc<Delta>> {
        let Self { branch, world, viewer } = self;
        if let Some(delta) = branch.delta_in_memory(viewer, from) {
            return Ok(delta);
        }
        let folding = &mut branch.folding();
        let (to, shown) = folding.current(world, |current| (current.position.head, current.shown(viewer)))?;
        // Another thread may have computed it in the meantime.
        if let Some(delta) = branch.delta_in_memory(viewer, from) {
            return Ok(delta);
        }
        let cursor = self.cursor(folding, from)?;
        let entries = branch.entries(world, cursor.settled, to)?;
        let count = usize::try_from(from - cursor.settled).unwrap_or(usize::MAX);
        let sent = entries.get(..count).unwrap_or(&entries);
        let earlier = cursor.see(sent, true)?;
        let now = cursor.see(&entries, true)?;
        // Settle only what was wholly shown at the earlier head, because the cursor serves clients with that head.
        let cursor = cursor.settle(from, &earlier.history, sent, branch.share_of_state())?;
        self.knowledge(folding)?.keep(cursor);
        if !viewer.sees_all() {
            self.note(folding, from, &earlier)?;
        }
        let id = self.note(folding, to, &now)?;
        let delta = Delta::between((from, &earlier), (to, &now), shown.tag, &id, &branch.memory);
        let delta = Arc::new(delta);
        branch.keep_delta(viewer, from, &delta);
        Ok(delta)
    }

    pub(crate) fn event_id(self, at: u64) -> ApiResult<EventId> {
        if self.viewer.sees_all() {
            return Ok(EventId { head: at, mark: Some(self.mark(at, Times::default())?) });
        }
        let folding = &mut self.branch.folding();
        let known = self.known(folding, at)?;
        self.note(folding, at, &known)
    }

    pub(crate) fn resume(self, id: &EventId, may_fold: bool) -> ApiResult<Resumed> {
        if self.viewer.sees_all() {
            if id.head > self.head()? {
                return Ok(Resumed::NotYet);
            }
            let is_same = id.mark.is_none() || *id == self.event_id(id.head)?;
            return Ok(if is_same { Resumed::Behind(id.head) } else { Resumed::Other });
        }
        let folding = &mut self.branch.folding();
        let head = folding.current(self.world, |current| current.position.head)?;
        loop {
            match self.knowledge(folding)?.resumed(id, head) {
                Resumed::Folds(at) if may_fold => {
                    let known = self.known(folding, at)?;
                    self.note(folding, at, &known)?;
                }
                resumed => return Ok(resumed),
            }
        }
    }

    fn knowledge<'f>(self, folding: &'f mut Folding<'_>) -> ApiResult<&'f mut Knowledge> {
        let start = mark_of(self.viewer, &self.branch.match_id(self.world)?, &Times::default().0);
        let start = || Knowledge::new(EventId { head: 0, mark: Some(start) }, &self.branch.memory);
        Ok(folding.viewers.entry(self.viewer).or_insert_with(start))
    }

    fn cursor<'f>(self, folding: &'f mut Folding<'_>, head: u64) -> ApiResult<&'f Cursor> {
        let Self { branch, world, viewer } = self;
        let knowledge = self.knowledge(folding)?;
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

    fn known(self, folding: &mut Folding<'_>, at: u64) -> ApiResult<Known> {
        let cursor = self.cursor(folding, at)?;
        let entries = self.branch.entries(self.world, cursor.settled, at)?;
        let known = cursor.see(&entries, false)?;
        if known.history.settled() > cursor.settled + UNSETTLED_MAX {
            let cursor = cursor.settle(at, &known.history, &entries, self.branch.share_of_state())?;
            self.knowledge(folding)?.keep(cursor);
        }
        Ok(known)
    }

    fn note(self, folding: &mut Folding<'_>, at: u64, known: &Known) -> ApiResult<EventId> {
        let id = EventId { head: known.history.head(), mark: Some(self.mark(at, known.times)?) };
        self.knowledge(folding)?.note(at, id.clone());
        Ok(id)
    }

    fn mark(self, at: u64, times: Times) -> ApiResult<String> {
        let revision = self.branch.revision();
        let match_id = self.branch.match_id(self.world)?;
        if !self.viewer.sees_all() {
            return Ok(mark_of(self.viewer, &match_id, &times.0));
        }
        let links = self.world.store.links(&revision.match_name, &revision.branch, at..=at)?;
        let last = links.last().ok_or_else(Problem::internal)?;
        Ok(mark_of(self.viewer, &match_id, last))
    }
}
