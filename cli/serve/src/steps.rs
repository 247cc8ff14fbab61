//! Steps: what a viewer is told between two heads of a branch, worked out once for all who follow (SV-17, SV-18).

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;
use turnfold_replay::entry::LogEntry;
use turnfold_replay::sight::follow::{Follower, Known};
use turnfold_replay::{Eyes, LoggedRecord, line::rules_of};

use crate::app::App;
use crate::auth::Viewpoint;
use crate::http::json_text;
use crate::problem::{Answer, Problem};
use crate::table::{Shown, Table};

/// The most steps kept of a branch; those who follow closely ask for the same few.
const STEPS_MAX: usize = 64;

/// The most records that an event tells; who has more to catch up with reads the log anew.
pub(crate) const RECORDS_MAX: usize = 1000;

/// What a viewer is told between two heads.
#[derive(Debug)]
pub(crate) struct Step {
    /// The later head, as the log counts.
    pub(crate) to: u64,
    /// The later head, as the viewer counts.
    pub(crate) head: u64,
    /// The tag of what the viewer sees there.
    pub(crate) tag: String,
    /// What it did not know before, or otherwise, each with its number in the log.
    pub(crate) news: Vec<(u64, LoggedRecord)>,
    /// What the event says; `None` when nothing visible changed.
    pub(crate) data: Option<String>,
}

/// The data of an event (SV-18).
#[derive(Serialize)]
struct EventData<'a> {
    head: u64,
    tag: &'a str,
    entries: Option<Vec<&'a LoggedRecord>>,
}

/// A viewer and the heads of a step.
type Between = (Viewpoint, u64, u64);

/// The steps of a branch that were asked for last, and how far each viewer's knowledge is settled.
#[derive(Default)]
pub(crate) struct Steps {
    steps: Mutex<BTreeMap<Between, Arc<Step>>>,
    followers: Mutex<BTreeMap<Viewpoint, Follower>>,
}

impl Steps {
    pub(crate) fn forget(&self) {
        self.steps.lock().unwrap_or_else(PoisonError::into_inner).clear();
        self.followers.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    fn keep(&self, between: Between, step: &Arc<Step>) {
        let mut steps = self.steps.lock().unwrap_or_else(PoisonError::into_inner);
        while steps.len() >= STEPS_MAX {
            let Some(oldest) = steps.keys().min_by_key(|(_, _, to)| *to).copied() else { break };
            steps.remove(&oldest);
        }
        steps.insert(between, Arc::clone(step));
    }

    fn kept(&self, between: &Between) -> Option<Arc<Step>> {
        self.steps.lock().unwrap_or_else(PoisonError::into_inner).get(between).cloned()
    }
}

impl Table {
    /// Returns what a viewer is told after a head, as the log counts, up to the present.
    pub(crate) fn step(&self, app: &App, view: Viewpoint, from: u64) -> Answer<Arc<Step>> {
        let (to, shown) = self.at_head(app, view)?;
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
            ahead => (self.follower(app, view.eyes, from)?, ahead),
        };
        let entries = self.entries(app, follower.settled(), to)?;
        let told = usize::try_from(from - follower.settled()).unwrap_or(usize::MAX);
        let earlier = follower.known(entries.get(..told).unwrap_or(&entries))?;
        let now = follower.known(&entries)?;
        let step = Arc::new(step_between(to, shown, &earlier, &now));
        follower.settle(entries.get(..now.whole).unwrap_or(&entries))?;
        followers.insert(view, ahead.unwrap_or(follower));
        drop(followers);
        self.steps.keep(between, &step);
        Ok(step)
    }

    /// Returns the log's head for a viewer and what it sees there.
    fn at_head(&self, app: &App, view: Viewpoint) -> Answer<(u64, Shown)> {
        if view.delay_s == 0 {
            return self.current(app, |current| (current.head, current.shown(view.eyes)));
        }
        let head = self.head(app, view)?;
        Ok((head, Shown::of(view.eyes, self.state_of_log(app, head)?.as_ref())))
    }

    /// Returns a follower whose knowledge was settled at a head, as the log counts.
    fn follower(&self, app: &App, eyes: Eyes, head: u64) -> Answer<Follower> {
        let line = self.line();
        let genesis = app.store.genesis(&line.match_name)?;
        let rules = rules_of(&genesis, line, &app.registry)?;
        let start = rules
            .start(&genesis.setup)
            .map_err(|cause| Problem::from(turnfold_replay::ReplayError::from(cause)))?;
        let mut follower = Follower::new(eyes, line, genesis.dice, start);
        if eyes.see_all() {
            return Ok(follower.after(head, self.state_of_log(app, head)?));
        }
        let entries = self.entries(app, 0, head)?;
        let known = follower.known(&entries)?;
        follower.settle(entries.get(..known.whole).unwrap_or(&entries))?;
        Ok(follower)
    }

    /// Returns the number of the last entry that a viewer knows of.
    pub(crate) fn head_seen(&self, app: &App, view: Viewpoint) -> Answer<u64> {
        let head = self.head(app, view)?;
        if view.eyes.see_all() { Ok(head) } else { Ok(self.step(app, view, head)?.head) }
    }

    /// Returns how many entries a viewer knows of up to one of the log.
    pub(crate) fn seen_at(&self, app: &App, view: Viewpoint, seq: u64) -> Answer<u64> {
        if view.eyes.see_all() {
            return Ok(seq);
        }
        let known = self.sight(app, view, None)?.known_within(usize::try_from(seq).unwrap_or(usize::MAX));
        Ok(known as u64)
    }

    /// Reads entries of the log between two heads.
    fn entries(&self, app: &App, after: u64, to: u64) -> Answer<Vec<LogEntry>> {
        let line = self.line();
        let entries = app.store.entries(&line.match_name, &line.branch, after + 1..=to)?;
        Ok(entries.map(|entry| entry.map(LogEntry::from)).collect::<Result<_, _>>()?)
    }

    /// Returns the last head, as the log counts, at which a viewer counted no more than `seen` entries.
    pub(crate) fn head_when(&self, app: &App, view: Viewpoint, seen: u64) -> Answer<Option<u64>> {
        let head = self.head(app, view)?;
        if view.eyes.see_all() {
            return Ok((seen <= head).then_some(seen));
        }
        let follower = self.follower(app, view.eyes, 0)?;
        let entries = self.entries(app, 0, head)?;
        let counted = |until: u64| -> Answer<u64> {
            let until = usize::try_from(until).unwrap_or(usize::MAX);
            Ok(follower.known(entries.get(..until).unwrap_or(&entries))?.head)
        };
        if seen > counted(head)? {
            return Ok(None);
        }
        // What is counted only grows, and an entry adds to it one or, when it brings others to light, more.
        let (mut low, mut high) = (0, head);
        while low < high {
            let middle = low + (high - low).div_ceil(2);
            if counted(middle)? <= seen { low = middle } else { high = middle - 1 }
        }
        Ok(Some(low))
    }
}

fn step_between(to: u64, shown: Shown, earlier: &Known, now: &Known) -> Step {
    let news = now.news_since(earlier);
    let Shown { tag, .. } = shown;
    let data = (!news.is_empty()).then(|| {
        let entries = (news.len() <= RECORDS_MAX).then(|| news.iter().map(|(_, record)| record).collect());
        json_text(&EventData { head: now.head, tag: &tag, entries }).trim_end().into()
    });
    Step { to, head: now.head, tag, news: news.into_iter().cloned().collect(), data }
}
