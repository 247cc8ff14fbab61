//! Following a branch: which entries viewers see, and what is new to them between heads, computed once for all clients
//! (SV-17 to SV-19).

use std::sync::Arc;

use turnfold_history::{HistorySource, SeatHistory, Viewer};

use crate::counts::FirstHead;
use crate::event_id::{EventId, Times, mark_of};
use crate::knowledge::{Cursor, Delta, Known};
use crate::open_branch::{BranchWork, OpenBranch};
use crate::problem::{ApiResult, Problem};
use crate::world::World;

/// How many wholly shown entries may follow the settled ones before they are settled, too.
const UNSETTLED_MAX: u64 = 256;

/// Where a client resumes that reconnects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Resumed {
    /// Behind this head, in the log's numbering. Everything that was revealed later is sent, perhaps some of it once
    /// more.
    Behind(u64),
    /// The viewer does not see that many entries yet.
    NotYet,
    /// The client knows another history.
    Other,
    /// To find out, entries have to be folded.
    Folds,
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
        let mut work = self.work();
        let (to, shown) =
            self.current_at_work(world, |current| (current.position.head, current.shown(viewer)))?;
        // Another thread may have computed it in the meantime.
        if let Some(delta) = self.kept_delta(viewer, from, to) {
            return Ok(delta);
        }
        let cursor = self.cursor(world, viewer, from, &mut work)?;
        let entries = self.entries(world, cursor.settled(), to)?;
        let count = usize::try_from(from - cursor.settled()).unwrap_or(usize::MAX);
        let sent = entries.get(..count).unwrap_or(&entries);
        let earlier = cursor.known(sent)?;
        let now = cursor.known(&entries)?;
        // Settle only what was wholly shown at the earlier head, because the cursor serves clients with that head.
        let cursor = cursor.settle(from, &earlier.history, sent)?;
        let mark = self.mark_of(world, viewer, to, now.times)?;
        let delta = Arc::new(Delta::between(from, to, shown.tag, mark.clone(), &earlier, &now));
        let knowledge = work.viewers.entry(viewer).or_default();
        knowledge.counts.note(from, earlier.history.head());
        knowledge.counts.note(to, delta.head);
        knowledge.keep_mark(delta.head, mark);
        knowledge.keep(cursor);
        self.count(&mut work);
        drop(work);
        self.keep_delta(viewer, from, &delta);
        Ok(delta)
    }

    /// Returns what is new to a viewer after a head if that is kept, without waiting.
    pub(crate) fn delta_in_memory(&self, viewer: Viewer, from: u64) -> Option<Arc<Delta>> {
        self.kept_delta(viewer, from, self.known_head())
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
        self.event_id_at_work(world, viewer, at, &mut self.work())
    }

    fn event_id_at_work(
        &self,
        world: &World,
        viewer: Viewer,
        at: u64,
        work: &mut BranchWork,
    ) -> ApiResult<EventId> {
        let known = self.known(world, viewer, at, work)?;
        let head = known.history.head();
        let mark = self.mark_of(world, viewer, at, known.times)?;
        let knowledge = work.viewers.entry(viewer).or_default();
        knowledge.counts.note(at, head);
        knowledge.keep_mark(head, mark.clone());
        self.count(work);
        Ok(EventId { head, mark: Some(mark) })
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
            let is_same = match &id.mark {
                Some(mark) => *mark == self.mark_of(world, viewer, id.head, Times::default())?,
                None => true,
            };
            return Ok(if is_same { Resumed::Behind(id.head) } else { Resumed::Other });
        }
        let mut work = self.work();
        let head = self.current_at_work(world, |current| current.position.head)?;
        let from = loop {
            match work.viewers.entry(viewer).or_default().counts.first_head(id.head, head) {
                FirstHead::Known(from) => break from,
                FirstHead::NotYet => return Ok(Resumed::NotYet),
                FirstHead::Count(_) if !may_fold => return Ok(Resumed::Folds),
                FirstHead::Count(at) => {
                    self.event_id_at_work(world, viewer, at, &mut work)?;
                }
            }
        };
        let Some(mark) = &id.mark else { return Ok(Resumed::Behind(from)) };
        let kept = work.viewers.entry(viewer).or_default().mark(id.head);
        let kept = match kept {
            None if !may_fold => return Ok(Resumed::Folds),
            None => {
                let found = self.event_id_at_work(world, viewer, from, &mut work)?;
                // If several entries were revealed there, the client may state that it knows some of them.
                found.mark.filter(|_| found.head == id.head)
            }
            kept => kept,
        };
        Ok(if kept.as_ref() == Some(mark) { Resumed::Behind(from) } else { Resumed::Other })
    }

    /// Returns the nearest cursor for clients that know a head, in the log's numbering. It is made if there is none.
    fn cursor<'w>(
        &self,
        world: &World,
        viewer: Viewer,
        head: u64,
        work: &'w mut BranchWork,
    ) -> ApiResult<&'w Cursor> {
        let knowledge = work.viewers.entry(viewer).or_default();
        if knowledge.nearest(head).is_none() {
            let start = self.source(world)?.history;
            let cursor = if viewer.sees_all() {
                Cursor::new(viewer, start, head, self.state_of_log(world, head)?)
            } else {
                let state = start.start()?;
                let cursor = Cursor::new(viewer, start, 0, state);
                let entries = self.entries(world, 0, head)?;
                let known = cursor.see(&entries, &mut |_| {})?;
                cursor.settle(head, &known.history, &entries)?
            };
            knowledge.keep(cursor);
        }
        knowledge.nearest(head).ok_or_else(Problem::internal)
    }

    /// Returns what a viewer knows at a head, in the log's numbering.
    fn known(&self, world: &World, viewer: Viewer, at: u64, work: &mut BranchWork) -> ApiResult<Known> {
        let cursor = self.cursor(world, viewer, at, work)?;
        let before = cursor.settled();
        let entries = self.entries(world, before, at)?;
        let known = cursor.see(&entries, &mut |_| {})?;
        if known.history.settled() > before + UNSETTLED_MAX {
            let cursor = cursor.settle(at, &known.history, &entries)?;
            work.viewers.entry(viewer).or_default().keep(cursor);
        }
        self.count(work);
        Ok(known)
    }

    /// Returns the whole branch as a source.
    pub(crate) fn source(&self, world: &World) -> ApiResult<HistorySource> {
        let build = world.outside.build;
        Ok(HistorySource::of_branch(self.revision(), &world.store, &world.registry, build)?)
    }

    /// Returns the history up to a head, in the log's numbering, as a viewer knew it then. Messages have no number of
    /// the log, which would show how many entries are concealed.
    pub(crate) fn history_of_log(&self, world: &World, viewer: Viewer, at: u64) -> ApiResult<SeatHistory> {
        let mut source = self.source(world)?;
        source.cut_after(at);
        if viewer.sees_all() {
            return Ok(SeatHistory::of_source(viewer, source)?);
        }
        let known = self.known(world, viewer, at, &mut self.work())?;
        Ok(known.history.read_from(source))
    }

    /// Returns which entries of the branch a viewer knows of at the head. Of a player's history, only the numbers are
    /// there.
    pub(crate) fn seen(&self, world: &World, viewer: Viewer) -> ApiResult<SeatHistory> {
        let head = self.head(world)?;
        if viewer.sees_all() {
            return self.history_of_log(world, viewer, head);
        }
        Ok(self.known(world, viewer, head, &mut self.work())?.history)
    }

    /// Returns the history up to the head as a viewer knows it.
    pub(crate) fn history(&self, world: &World, viewer: Viewer) -> ApiResult<SeatHistory> {
        self.history_of_log(world, viewer, self.head(world)?)
    }
}
