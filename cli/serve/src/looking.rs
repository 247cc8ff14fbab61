//! What viewers see of a branch: positions and records, and what is new between heads, computed once for all clients
//! (SV-17 to SV-19).

use std::sync::Arc;

use turnfold_core::AnyState;
use turnfold_history::{HistorySource, LoggedRecord, MatchStanding, SeatHistory, SourceName, Viewer};
use turnfold_show::render::WhoseTurn;

use crate::event_id::{EventId, Times, mark_of};
use crate::head_state::CachedView;
use crate::knowledge::{Cursor, Delta, Knowledge, Known, Resumed};
use crate::open_branch::{Folding, OpenBranch};
use crate::problem::{ApiResult, Problem};
use crate::world::World;

/// How many wholly shown entries may follow the settled ones before they are settled, too.
const UNSETTLED_MAX: u64 = 256;

impl Folding<'_> {
    fn of(&mut self, world: &World, viewer: Viewer) -> ApiResult<&mut Knowledge> {
        let branch = self.branch;
        let mark = mark_of(viewer, &branch.match_id(world)?, &Times::default().0);
        let start = EventId { head: 0, mark: Some(mark) };
        Ok(self.viewers.entry(viewer).or_insert_with(|| Knowledge::new(start, &branch.memory)))
    }

    /// Returns the nearest cursor for clients that know a head, in the log's numbering. It is made if there is none.
    fn cursor(&mut self, world: &World, viewer: Viewer, head: u64) -> ApiResult<&Cursor> {
        let branch = self.branch;
        let knowledge = self.of(world, viewer)?;
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

    /// Returns what a viewer knows at a head, in the log's numbering.
    fn known(&mut self, world: &World, viewer: Viewer, at: u64) -> ApiResult<Known> {
        let branch = self.branch;
        let cursor = self.cursor(world, viewer, at)?;
        let entries = branch.entries(world, cursor.settled, at)?;
        let known = cursor.see(&entries, false)?;
        if known.history.settled() > cursor.settled + UNSETTLED_MAX {
            let cursor = cursor.settle(at, &known.history, &entries, branch.share_of_state())?;
            self.of(world, viewer)?.keep(cursor);
        }
        Ok(known)
    }

    /// Notes what a viewer knows at a head, in the log's numbering, and returns its id.
    fn note(&mut self, world: &World, viewer: Viewer, at: u64, known: &Known) -> ApiResult<EventId> {
        let mark = self.branch.mark_of(world, viewer, at, known.times)?;
        let id = EventId { head: known.history.head(), mark: Some(mark) };
        self.of(world, viewer)?.note(at, id.clone());
        Ok(id)
    }
}

impl OpenBranch {
    /// Returns the number of the last entry of the log.
    pub(crate) fn head(&self, world: &World) -> ApiResult<u64> {
        self.current(world, |current| current.position.head)
    }

    /// Returns what is new to a viewer after a head, in the log's numbering, up to the present one.
    pub(crate) fn delta(&self, world: &World, viewer: Viewer, from: u64) -> ApiResult<Arc<Delta>> {
        if let Some(delta) = self.delta_in_memory(viewer, from) {
            return Ok(delta);
        }
        let mut folding = self.folding();
        let (to, shown) =
            self.current_at_work(world, |current| (current.position.head, current.shown(viewer)))?;
        // Another thread may have computed it in the meantime.
        if let Some(delta) = self.delta_in_memory(viewer, from) {
            return Ok(delta);
        }
        let cursor = folding.cursor(world, viewer, from)?;
        let entries = self.entries(world, cursor.settled, to)?;
        let count = usize::try_from(from - cursor.settled).unwrap_or(usize::MAX);
        let sent = entries.get(..count).unwrap_or(&entries);
        let earlier = cursor.see(sent, true)?;
        let now = cursor.see(&entries, true)?;
        // Settle only what was wholly shown at the earlier head, because the cursor serves clients with that head.
        let cursor = cursor.settle(from, &earlier.history, sent, self.share_of_state())?;
        folding.of(world, viewer)?.keep(cursor);
        if !viewer.sees_all() {
            folding.note(world, viewer, from, &earlier)?;
        }
        let id = folding.note(world, viewer, to, &now)?;
        let delta = Delta::between((from, &earlier), (to, &now), shown.tag, &id, &self.memory);
        let delta = Arc::new(delta);
        self.keep_delta(viewer, from, &delta);
        Ok(delta)
    }

    /// Returns the mark of the history up to a head, in the log's numbering. `times` are those of the entries that the
    /// viewer knows of.
    fn mark_of(&self, world: &World, viewer: Viewer, at: u64, times: Times) -> ApiResult<String> {
        let revision = self.revision();
        let match_id = self.match_id(world)?;
        if !viewer.sees_all() {
            return Ok(mark_of(viewer, &match_id, &times.0));
        }
        let links = world.store.links(&revision.match_name, &revision.branch, at..=at)?;
        let last = links.last().ok_or_else(Problem::internal)?;
        Ok(mark_of(viewer, &match_id, last))
    }

    /// Returns how many entries a viewer sees at a head, in the log's numbering, and the mark of the history up to it.
    pub(crate) fn event_id(&self, world: &World, viewer: Viewer, at: u64) -> ApiResult<EventId> {
        if viewer.sees_all() {
            let mark = self.mark_of(world, viewer, at, Times::default())?;
            return Ok(EventId { head: at, mark: Some(mark) });
        }
        let mut folding = self.folding();
        let known = folding.known(world, viewer, at)?;
        folding.note(world, viewer, at, &known)
    }

    /// Finds the first head at which a viewer saw as many entries as the client knows, and compares the mark of the
    /// history up to it. Without `may_fold`, only what is at hand is used.
    pub(crate) fn resume(
        &self,
        world: &World,
        viewer: Viewer,
        id: &EventId,
        may_fold: bool,
    ) -> ApiResult<Resumed> {
        if viewer.sees_all() {
            if id.head > self.head(world)? {
                return Ok(Resumed::NotYet);
            }
            let is_same = id.mark.is_none() || *id == self.event_id(world, viewer, id.head)?;
            return Ok(if is_same { Resumed::Behind(id.head) } else { Resumed::Other });
        }
        let mut folding = self.folding();
        let head = self.current_at_work(world, |current| current.position.head)?;
        loop {
            match folding.of(world, viewer)?.resumed(id, head) {
                Resumed::Folds(at) if may_fold => {
                    let known = folding.known(world, viewer, at)?;
                    folding.note(world, viewer, at, &known)?;
                }
                resumed => return Ok(resumed),
            }
        }
    }

    /// Returns the history up to a head, in the log's numbering, as a viewer knew it then. Messages have no number of
    /// the log, which would show how many entries are concealed.
    pub(crate) fn history_of_log(&self, world: &World, viewer: Viewer, at: u64) -> ApiResult<SeatHistory> {
        let mut source = self.source(world)?;
        source.cut_after(at);
        if viewer.sees_all() {
            return Ok(SeatHistory::of_source(viewer, source)?);
        }
        Ok(self.folding().known(world, viewer, at)?.history.read_from(source))
    }

    /// Returns which entries of the branch a viewer knows of at the head. Of a player's history, only the numbers are
    /// there.
    pub(crate) fn seen(&self, world: &World, viewer: Viewer) -> ApiResult<SeatHistory> {
        let head = self.head(world)?;
        if viewer.sees_all() {
            return self.history_of_log(world, viewer, head);
        }
        Ok(self.folding().known(world, viewer, head)?.history)
    }

    /// Returns what a viewer sees at the head.
    pub(crate) fn shown(&self, world: &World, viewer: Viewer) -> ApiResult<CachedView> {
        self.current(world, |current| current.shown(viewer))
    }

    /// Returns the state at an entry, in the viewer's numbering, or at the head.
    pub(crate) fn state(
        &self,
        world: &World,
        viewer: Viewer,
        at: Option<u64>,
    ) -> ApiResult<Box<dyn AnyState>> {
        match at {
            None => self.current(world, |current| current.position.state.fork()),
            Some(at) if viewer.sees_all() => self.state_of_log(world, at),
            Some(at) => Ok(self.history(world, viewer, None)?.state_at(at)?),
        }
    }

    /// Returns the match's standing in `state`, the state at an entry, in the viewer's numbering, or at the head.
    pub(crate) fn standing(
        &self,
        world: &World,
        viewer: Viewer,
        at: Option<u64>,
        state: &dyn AnyState,
    ) -> ApiResult<MatchStanding> {
        match viewer.standing(state) {
            Some(standing) => Ok(standing),
            None => Ok(self.history(world, viewer, at)?.standing()?),
        }
    }

    /// Returns whose turn it is in the state after an entry, in the log's numbering.
    pub(crate) fn whose_turn(
        &self,
        world: &World,
        viewer: Viewer,
        state: &dyn AnyState,
        seq: u64,
    ) -> ApiResult<WhoseTurn> {
        match WhoseTurn::seen_by(viewer, state) {
            Some(turn) => Ok(turn),
            None => Ok(WhoseTurn::of_history(&self.history_of_log(world, viewer, seq)?)?),
        }
    }

    /// Returns the state after an entry, in the log's numbering, from the nearest snapshot.
    pub(crate) fn state_of_log(&self, world: &World, seq: u64) -> ApiResult<Box<dyn AnyState>> {
        Ok(HistorySource::open(&SourceName::Revision(self.revision().at(seq)), world)?.state(None)?)
    }

    /// Returns the history as a viewer knows it, up to an entry, in the viewer's numbering, or up to the head.
    pub(crate) fn history(&self, world: &World, viewer: Viewer, at: Option<u64>) -> ApiResult<SeatHistory> {
        let history = self.history_of_log(world, viewer, self.head(world)?)?;
        match at {
            Some(at) => Ok(history.up_to(at)?),
            None => Ok(history),
        }
    }

    /// Returns the number of the last entry that a viewer knows of.
    pub(crate) fn head_seen(&self, world: &World, viewer: Viewer) -> ApiResult<u64> {
        if viewer.sees_all() { self.head(world) } else { Ok(self.seen(world, viewer)?.head()) }
    }

    /// Returns at most `limit` records of the entries after `after`, and the number of the last one if more follow.
    pub(crate) fn records(
        &self,
        world: &World,
        viewer: Viewer,
        after: u64,
        limit: usize,
    ) -> ApiResult<(Vec<LoggedRecord>, Option<u64>)> {
        let history = self.history(world, viewer, None)?;
        history.require(after)?;
        let until = after.saturating_add(limit as u64);
        let head = history.head();
        let mut records = Vec::new();
        history.show(after, head.min(until), &mut |seen| records.push(seen.logged_record()))?;
        Ok((records, (head > until).then_some(until)))
    }
}
