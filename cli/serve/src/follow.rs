//! Following a branch: which entries viewers see, and what is new to them between heads, computed once for all clients
//! (SV-17 to SV-19).

use std::sync::Arc;

use turnfold_history::viewer::seat_history::follow::{Follower, ShownEntries, Times};
use turnfold_history::{ReplayError, ViewedEntry, Viewer, history::rules_of};

use crate::counts::FirstHead;
use crate::event_id::{EventId, mark_of};
use crate::knowledge::{Cursor, Delta};
use crate::open_branch::{BranchWork, OpenBranch};
use crate::problem::{ApiResult, Problem};
use crate::world::World;

/// How many wholly shown entries may follow the settled ones before they are settled, too.
const UNSETTLED_MAX: usize = 256;

impl OpenBranch {
    /// Returns the number of the last entry of the log.
    pub(crate) fn head(&self, world: &World) -> ApiResult<u64> {
        self.current(world, |current| current.head)
    }

    /// Returns what is new to a viewer after a head, in the log's numbering, up to the present one.
    pub(crate) fn delta(&self, world: &World, viewer: Viewer, from: u64) -> ApiResult<Arc<Delta>> {
        if let Some(delta) = self.delta_in_memory(viewer, from) {
            return Ok(delta);
        }
        let mut work = self.work();
        let (to, shown) = self.current_at_work(world, |current| (current.head, current.shown(viewer)))?;
        // Another thread may have computed it in the meantime.
        if let Some(delta) = self.kept_delta(viewer, from, to) {
            return Ok(delta);
        }
        let knowledge = work.viewers.entry(viewer).or_default();
        let made;
        let follower = if let Some(follower) = knowledge.nearest(from) {
            follower
        } else {
            made = self.follower(world, viewer, from)?;
            &made
        };
        let entries = self.entries(world, follower.settled(), to)?;
        let count = usize::try_from(from - follower.settled()).unwrap_or(usize::MAX);
        let sent = entries.get(..count).unwrap_or(&entries);
        let earlier = follower.known(sent)?;
        let now = follower.known(&entries)?;
        let mark = self.mark_of(world, viewer, to, now.times)?;
        let delta = Arc::new(Delta::between(to, shown.tag, mark.clone(), &earlier, &now));
        // Settle only what was wholly shown at the earlier head, because the follower serves clients with that head.
        let mut follower = follower.fork();
        follower.settle(sent.get(..earlier.whole).unwrap_or(sent))?;
        knowledge.counts.note(from, earlier.head);
        knowledge.counts.note(to, now.head);
        knowledge.keep_mark(now.head, mark);
        knowledge.keep(Cursor { at: from, follower });
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

    /// Returns the mark of the history in which a viewer sees `count` entries, if it is kept or needs no fold.
    pub(crate) fn mark_at_hand(
        &self,
        world: &World,
        viewer: Viewer,
        count: u64,
    ) -> ApiResult<Option<String>> {
        if viewer.sees_all() {
            return self.mark_of(world, viewer, count, Times::default()).map(Some);
        }
        Ok(self.work().viewers.get(&viewer).and_then(|knowledge| knowledge.mark(count)))
    }

    /// Returns how many entries a viewer sees at a head, in the log's numbering, and the mark of the history up to it.
    pub(crate) fn event_id(&self, world: &World, viewer: Viewer, at: u64) -> ApiResult<EventId> {
        if viewer.sees_all() {
            let mark = self.mark_of(world, viewer, at, Times::default())?;
            return Ok(EventId { head: at, mark: Some(mark) });
        }
        let mut work = self.work();
        let knowledge = work.viewers.entry(viewer).or_default();
        if knowledge.nearest(at).is_none() {
            knowledge.keep(Cursor { at, follower: self.follower(world, viewer, at)? });
        }
        let follower = knowledge.nearest(at).ok_or_else(Problem::internal)?;
        let entries = self.entries(world, follower.settled(), at)?;
        let shown = follower.fold(&entries, &mut |_| {})?;
        let head = shown.head();
        let mark = self.mark_of(world, viewer, at, shown.times)?;
        knowledge.counts.note(at, head);
        knowledge.keep_mark(head, mark.clone());
        self.count(&mut work);
        Ok(EventId { head, mark: Some(mark) })
    }

    /// Returns a follower that has settled what was wholly shown at a head, in the log's numbering.
    fn follower(&self, world: &World, viewer: Viewer, head: u64) -> ApiResult<Follower> {
        let revision = self.revision();
        let genesis = world.store.genesis(&revision.match_name)?;
        let rules = rules_of(&genesis, revision, &world.registry)?;
        let start = rules.start(&genesis.setup).map_err(|cause| Problem::from(ReplayError::from(cause)))?;
        let mut follower = Follower::new(viewer, revision, genesis.dice, start);
        if viewer.sees_all() {
            return Ok(follower.after(head, self.state_of_log(world, head)?));
        }
        let entries = self.entries(world, 0, head)?;
        let whole = follower.fold(&entries, &mut |_| {})?.whole;
        follower.settle(entries.get(..whole).unwrap_or(&entries))?;
        Ok(follower)
    }

    /// Returns which entries of the log a viewer knows of at the head. Passes those that are not settled to `observe`.
    pub(crate) fn seen(
        &self,
        world: &World,
        viewer: Viewer,
        observe: &mut dyn FnMut(&mut ViewedEntry<'_>),
    ) -> ApiResult<ShownEntries> {
        let mut work = self.work();
        let head = self.current_at_work(world, |current| current.head)?;
        let knowledge = work.viewers.entry(viewer).or_default();
        if knowledge.nearest(head).is_none() {
            knowledge.keep(Cursor { at: head, follower: self.follower(world, viewer, head)? });
        }
        let follower = knowledge.nearest(head).ok_or_else(Problem::internal)?;
        let entries = self.entries(world, follower.settled(), head)?;
        let seen = follower.fold(&entries, observe)?;
        if seen.whole > UNSETTLED_MAX {
            let mut follower = follower.fork();
            follower.settle(entries.get(..seen.whole).unwrap_or(&entries))?;
            knowledge.keep(Cursor { at: head, follower });
        }
        self.count(&mut work);
        Ok(seen)
    }

    /// Returns the number of the last entry that a viewer knows of.
    pub(crate) fn head_seen(&self, world: &World, viewer: Viewer) -> ApiResult<u64> {
        if viewer.sees_all() { self.head(world) } else { Ok(self.seen(world, viewer, &mut |_| {})?.head()) }
    }

    /// Returns how many entries a viewer knows of up to entry `seq` of the log.
    pub(crate) fn seen_within(&self, world: &World, viewer: Viewer, seq: u64) -> ApiResult<u64> {
        if viewer.sees_all() { Ok(seq) } else { Ok(self.seen(world, viewer, &mut |_| {})?.within(seq)) }
    }

    /// Returns the first head, in the log's numbering, at which a viewer sees `seen` entries. A client that resumes
    /// there is sent everything that was revealed later, perhaps some of it once more.
    pub(crate) fn first_head(&self, world: &World, viewer: Viewer, seen: u64) -> ApiResult<FirstHead> {
        self.first_head_at_work(world, viewer, seen, &mut self.work())
    }

    fn first_head_at_work(
        &self,
        world: &World,
        viewer: Viewer,
        seen: u64,
        work: &mut BranchWork,
    ) -> ApiResult<FirstHead> {
        let head = self.current_at_work(world, |current| current.head)?;
        Ok(if !viewer.sees_all() {
            work.viewers.entry(viewer).or_default().counts.first_head(seen, head)
        } else if seen <= head {
            FirstHead::Known(seen)
        } else {
            FirstHead::NotYet
        })
    }

    /// Counts a viewer's entries at heads until the first head with `seen` entries is known.
    pub(crate) fn count_until(&self, world: &World, viewer: Viewer, seen: u64) -> ApiResult<FirstHead> {
        let mut work = self.work();
        while let FirstHead::Count(at) = self.first_head_at_work(world, viewer, seen, &mut work)? {
            let knowledge = work.viewers.entry(viewer).or_default();
            if knowledge.nearest(at).is_none() {
                knowledge.keep(Cursor { at, follower: self.follower(world, viewer, at)? });
            }
            if let Some(follower) = knowledge.nearest(at) {
                let entries = self.entries(world, follower.settled(), at)?;
                let count = follower.fold(&entries, &mut |_| {})?.head();
                knowledge.counts.note(at, count);
            }
        }
        self.count(&mut work);
        self.first_head_at_work(world, viewer, seen, &mut work)
    }
}
