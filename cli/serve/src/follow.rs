//! Following a branch: what viewers are told from head to head, worked out once for all of them (SV-17 to SV-19).

use std::sync::{Arc, PoisonError};

use turnfold_replay::entry::LogEntry;
use turnfold_replay::sight::follow::Follower;
use turnfold_replay::{Eyes, ReplayError, line::rules_of};

use crate::auth::Viewpoint;
use crate::problem::{Answer, Problem};
use crate::steps::Step;
use crate::table::{Shown, Table};
use crate::world::World;

impl Table {
    /// Returns what a viewer is told after a head, as the log counts, up to the present.
    pub(crate) fn step(&self, world: &World, view: Viewpoint, from: u64) -> Answer<Arc<Step>> {
        let (to, shown) = self.at_head(world, view)?;
        let between = (view, from, to);
        if let Some(step) = self.steps.kept(&between) {
            return Ok(step);
        }
        let mut followers = self.steps.followers.lock().unwrap_or_else(PoisonError::into_inner);
        // Somebody else may have worked it out meanwhile.
        if let Some(step) = self.steps.kept(&between) {
            return Ok(step);
        }
        // Whoever lags behind what is settled for others has a follower made for this step alone.
        let (mut follower, ahead) = match followers.remove(&view) {
            Some(follower) if follower.settled() <= from => (follower, None),
            ahead => (self.follower(world, view.eyes, from)?, ahead),
        };
        let entries = self.entries(world, follower.settled(), to)?;
        let told = usize::try_from(from - follower.settled()).unwrap_or(usize::MAX);
        let earlier = follower.known(entries.get(..told).unwrap_or(&entries))?;
        let now = follower.known(&entries)?;
        let step = Arc::new(Step::between(to, shown.tag, &earlier, &now));
        follower.settle(entries.get(..now.whole).unwrap_or(&entries))?;
        followers.insert(view, ahead.unwrap_or(follower));
        drop(followers);
        self.steps.keep(between, &step);
        Ok(step)
    }

    /// Returns the log's head for a viewer and what it sees there.
    fn at_head(&self, world: &World, view: Viewpoint) -> Answer<(u64, Shown)> {
        if view.delay_s == 0 {
            return self.current(world, |current| (current.head, current.shown(view.eyes)));
        }
        let head = self.head(world, view)?;
        Ok((head, Shown::of(view.eyes, self.state_of_log(world, head)?.as_ref())))
    }

    /// Returns a follower whose knowledge was settled at a head, as the log counts.
    fn follower(&self, world: &World, eyes: Eyes, head: u64) -> Answer<Follower> {
        let line = self.line();
        let genesis = world.store.genesis(&line.match_name)?;
        let rules = rules_of(&genesis, line, &world.registry)?;
        let start = rules.start(&genesis.setup).map_err(|cause| Problem::from(ReplayError::from(cause)))?;
        let mut follower = Follower::new(eyes, line, genesis.dice, start);
        if eyes.see_all() {
            return Ok(follower.after(head, self.state_of_log(world, head)?));
        }
        let entries = self.entries(world, 0, head)?;
        let known = follower.known(&entries)?;
        follower.settle(entries.get(..known.whole).unwrap_or(&entries))?;
        Ok(follower)
    }

    /// Returns the number of the last entry that a viewer knows of.
    pub(crate) fn head_seen(&self, world: &World, view: Viewpoint) -> Answer<u64> {
        let head = self.head(world, view)?;
        if view.eyes.see_all() { Ok(head) } else { Ok(self.step(world, view, head)?.head) }
    }

    /// Returns how many entries a viewer knows of up to one of the log.
    pub(crate) fn seen_at(&self, world: &World, view: Viewpoint, seq: u64) -> Answer<u64> {
        if view.eyes.see_all() {
            return Ok(seq);
        }
        let known = self.sight(world, view, None)?.known_within(usize::try_from(seq).unwrap_or(usize::MAX));
        Ok(known as u64)
    }

    /// Reads entries of the log between two heads.
    fn entries(&self, world: &World, after: u64, to: u64) -> Answer<Vec<LogEntry>> {
        let line = self.line();
        let entries = world.store.entries(&line.match_name, &line.branch, after + 1..=to)?;
        Ok(entries.map(|entry| entry.map(LogEntry::from)).collect::<Result<_, _>>()?)
    }

    /// Returns the first head, as the log counts, at which a viewer counted `seen` entries. From there on it is told
    /// what came to light of them behind entries that it does not count, perhaps once more.
    pub(crate) fn head_when(&self, world: &World, view: Viewpoint, seen: u64) -> Answer<Option<u64>> {
        let head = self.head(world, view)?;
        if view.eyes.see_all() {
            return Ok((seen <= head).then_some(seen));
        }
        let follower = self.follower(world, view.eyes, 0)?;
        let entries = self.entries(world, 0, head)?;
        let counted = |until: u64| -> Answer<u64> {
            let until = usize::try_from(until).unwrap_or(usize::MAX);
            Ok(follower.count(entries.get(..until).unwrap_or(&entries))?)
        };
        if seen > counted(head)? {
            return Ok(None);
        }
        // What is counted only grows. An entry may bring several to light at once; whoever claims to have seen only
        // some of those is told all of them.
        let first_counting = |count: u64| -> Answer<u64> {
            let (mut low, mut high) = (0, head);
            while low < high {
                let middle = low.midpoint(high);
                if counted(middle)? >= count { high = middle } else { low = middle + 1 }
            }
            Ok(low)
        };
        let first = first_counting(seen)?;
        if counted(first)? == seen { Ok(Some(first)) } else { Ok(Some(first.saturating_sub(1))) }
    }
}
