//! Following a branch: which entries viewers see, and what is new to them between heads, computed once for all clients
//! (SV-17 to SV-19).

use std::sync::Arc;

use turnfold_history::{SeatHistory, Viewer};

use crate::event_id::{EventId, Times, mark_of};
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
                let known = cursor.see(&entries, &mut |_| {})?;
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
        let known = cursor.see(&entries, &mut |_| {})?;
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
        let earlier = cursor.known(sent)?;
        let now = cursor.known(&entries)?;
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
}
