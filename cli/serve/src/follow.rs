//! Following a branch: what viewers are told from head to head, worked out once for all of them (SV-17 to SV-19).

use std::sync::Arc;

use turnfold_replay::entry::LogEntry;
use turnfold_replay::seat_history::follow::Follower;
use turnfold_replay::{ReplayError, Viewer, history::rules_of};

use crate::auth::Viewpoint;
use crate::counts::FirstHead;
use crate::deltas::{Settled, Step};
use crate::head_state::CachedView;
use crate::open_branch::{OpenBranch, Watched};
use crate::problem::{ApiResult, Problem};
use crate::world::World;

impl OpenBranch {
    /// Returns what a viewer is told after a head, as the log counts, up to the present.
    pub(crate) fn step(&self, world: &World, view: Viewpoint, from: u64) -> ApiResult<Arc<Step>> {
        let (to, shown) = self.at_head(world, view)?;
        let between = (view, from, to);
        if let Some(step) = self.steps.find(&between) {
            return Ok(step);
        }
        let mut all = self.steps.followers();
        // Somebody else may have worked it out meanwhile.
        if let Some(step) = self.steps.find(&between) {
            return Ok(step);
        }
        let followers = all.entry(view).or_default();
        let made;
        let follower = if let Some(follower) = followers.nearest(from) {
            follower
        } else {
            made = self.follower(world, view.viewer, from)?;
            &made
        };
        let entries = self.entries(world, follower.settled(), to)?;
        let told = usize::try_from(from - follower.settled()).unwrap_or(usize::MAX);
        let told = entries.get(..told).unwrap_or(&entries);
        let earlier = follower.known(told)?;
        let now = follower.known(&entries)?;
        let step = Arc::new(Step::between(to, shown.tag, &earlier, &now));
        self.steps.note(view.viewer, from, earlier.head);
        self.steps.note(view.viewer, to, now.head);
        // Only what was wholly shown at the earlier head is settled for all who were told up to it.
        let mut follower = follower.fork();
        follower.settle(told.get(..earlier.whole).unwrap_or(told))?;
        followers.keep(Settled { at: from, follower });
        drop(all);
        self.steps.keep(between, &step);
        Ok(step)
    }

    /// Returns a step that was worked out before, without waiting for anything.
    pub(crate) fn kept_step(&self, view: Viewpoint, from: u64) -> Option<Arc<Step>> {
        let Watched::Head(to) = *self.watch().borrow() else { return None };
        (view.delay_s == 0).then(|| self.steps.find(&(view, from, to))).flatten()
    }

    /// Returns the log's head for a viewer and what it sees there.
    fn at_head(&self, world: &World, view: Viewpoint) -> ApiResult<(u64, CachedView)> {
        if view.delay_s == 0 {
            return self.current(world, |current| (current.head, current.shown(view.viewer)));
        }
        let head = self.head(world, view)?;
        Ok((head, CachedView::of(view.viewer, self.state_of_log(world, head)?.as_ref())))
    }

    /// Returns a follower whose knowledge was settled at a head, as the log counts.
    fn follower(&self, world: &World, viewer: Viewer, head: u64) -> ApiResult<Follower> {
        let line = self.line();
        let genesis = world.store.genesis(&line.match_name)?;
        let rules = rules_of(&genesis, line, &world.registry)?;
        let start = rules.start(&genesis.setup).map_err(|cause| Problem::from(ReplayError::from(cause)))?;
        let mut follower = Follower::new(viewer, line, genesis.dice, start);
        if viewer.see_all() {
            return Ok(follower.after(head, self.state_of_log(world, head)?));
        }
        let entries = self.entries(world, 0, head)?;
        let whole = follower.whole(&entries)?;
        follower.settle(entries.get(..whole).unwrap_or(&entries))?;
        Ok(follower)
    }

    /// Returns the number of the last entry that a viewer knows of.
    pub(crate) fn head_seen(&self, world: &World, view: Viewpoint) -> ApiResult<u64> {
        let head = self.head(world, view)?;
        if view.viewer.see_all() { Ok(head) } else { Ok(self.step(world, view, head)?.head) }
    }

    /// Returns how many entries a viewer knows of up to one of the log.
    pub(crate) fn seen_at(&self, world: &World, view: Viewpoint, seq: u64) -> ApiResult<u64> {
        if view.viewer.see_all() {
            return Ok(seq);
        }
        let known = self.sight(world, view, None)?.known_within(usize::try_from(seq).unwrap_or(usize::MAX));
        Ok(known as u64)
    }

    /// Reads entries of the log between two heads.
    pub(crate) fn entries(&self, world: &World, after: u64, to: u64) -> ApiResult<Vec<LogEntry>> {
        let entries = world.store.entries_of(&self.named(), after + 1..=to)?;
        Ok(entries.map(|entry| entry.map(LogEntry::from)).collect::<Result<_, _>>()?)
    }

    /// Returns the first head, as the log counts, at which a viewer counted `seen` entries. From there on it is told
    /// what came to light of them behind entries that it does not count, perhaps once more.
    pub(crate) fn head_when(&self, world: &World, view: Viewpoint, seen: u64) -> ApiResult<FirstHead> {
        let head = self.head(world, view)?;
        Ok(if !view.viewer.see_all() {
            self.steps.first_head(view.viewer, seen, head)
        } else if seen <= head {
            FirstHead::Known(seen)
        } else {
            FirstHead::NotYet
        })
    }

    /// Counts what a viewer knows of at heads until it is known at which it first counted `seen` entries.
    pub(crate) fn count_until(&self, world: &World, view: Viewpoint, seen: u64) -> ApiResult<FirstHead> {
        let mut followers = self.steps.followers();
        while let FirstHead::Count(at) = self.head_when(world, view, seen)? {
            let followers = followers.entry(view).or_default();
            if followers.nearest(at).is_none() {
                followers.keep(Settled { at, follower: self.follower(world, view.viewer, at)? });
            }
            if let Some(follower) = followers.nearest(at) {
                let entries = self.entries(world, follower.settled(), at)?;
                self.steps.note(view.viewer, at, follower.count(&entries)?);
            }
        }
        drop(followers);
        self.head_when(world, view, seen)
    }
}
