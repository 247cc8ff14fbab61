//! Deltas: what a viewer is told between two heads of a branch, kept for all who follow (SV-17, SV-18).

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use turnfold_replay::seat_history::follow::{Follower, Known};
use turnfold_replay::{LoggedRecord, Viewer};

use crate::auth::Viewpoint;
use crate::counts::{Counts, FirstHead};
use crate::http::json_text;

/// The most steps kept of a branch, and the most records in them; those who follow closely ask for the same few.
const STEPS_MAX: usize = 256;
const STEPS_RECORDS_MAX: usize = 16 * RECORDS_MAX;

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
    /// What it did not know before, or otherwise, of the last entries, each with its number in the log.
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

/// A follower, and the head at which what it settled was wholly shown. At an earlier head some of it may not have been
/// shown yet, so it serves nobody who was told no more than that.
pub(crate) struct Settled {
    pub(crate) at: u64,
    pub(crate) follower: Follower,
}

/// The followers of a viewer: one for those who follow closely, one for those who lag or come again.
#[derive(Default)]
pub(crate) struct DeltaCursor {
    ahead: Option<Settled>,
    behind: Option<Settled>,
}

/// How many entries a follower for those who lag may leave unsettled before another takes its place.
const BEHIND_MAX: u64 = 256;

impl DeltaCursor {
    /// Returns the nearest follower that serves whoever was told of everything up to a head.
    pub(crate) fn nearest(&self, from: u64) -> Option<&Follower> {
        let both = [&self.ahead, &self.behind].into_iter().flatten();
        both.filter(|settled| settled.at <= from).max_by_key(|settled| settled.at).map(|it| &it.follower)
    }

    /// Keeps a follower where it helps others.
    pub(crate) fn keep(&mut self, new: Settled) {
        let Some(ahead) = &self.ahead else {
            self.ahead = Some(new);
            return;
        };
        if new.at >= ahead.at {
            self.ahead = Some(new);
            return;
        }
        let serves =
            |old: &Settled| old.at <= new.at && new.follower.settled() - old.follower.settled() <= BEHIND_MAX;
        if !self.behind.as_ref().is_some_and(serves) {
            self.behind = Some(new);
        }
    }
}

/// The steps of a branch that were asked for last, how far each viewer's knowledge is settled, and what it counted.
#[derive(Default)]
pub(crate) struct Deltas {
    kept: Mutex<Kept>,
    followers: Mutex<BTreeMap<Viewpoint, DeltaCursor>>,
    counts: Mutex<BTreeMap<Viewer, Counts>>,
}

#[derive(Default)]
struct Kept {
    steps: BTreeMap<Between, Arc<Step>>,
    records: usize,
}

impl Deltas {
    /// Forgets all but what somebody works out just now.
    pub(crate) fn forget_if_idle(&self) {
        if let (Ok(mut kept), Ok(mut followers), Ok(mut counts)) =
            (self.kept.try_lock(), self.followers.try_lock(), self.counts.try_lock())
        {
            *kept = Kept::default();
            followers.clear();
            counts.clear();
        }
    }

    pub(crate) fn forget(&self) {
        *self.kept() = Kept::default();
        self.followers().clear();
        self.counts.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the followers, which nobody else uses meanwhile.
    pub(crate) fn followers(&self) -> MutexGuard<'_, BTreeMap<Viewpoint, DeltaCursor>> {
        self.followers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes how many entries a viewer counted at a head of the log.
    pub(crate) fn note(&self, viewer: Viewer, head: u64, count: u64) {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        counts.entry(viewer).or_default().note(head, count);
    }

    /// Looks for the first head of the log, up to one, at which a viewer counted `seen` entries.
    pub(crate) fn first_head(&self, viewer: Viewer, seen: u64, head: u64) -> FirstHead {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        counts.entry(viewer).or_default().first_head(seen, head)
    }

    pub(crate) fn keep(&self, between: Between, step: &Arc<Step>) {
        let mut kept = self.kept();
        while kept.steps.len() >= STEPS_MAX || kept.records > STEPS_RECORDS_MAX {
            let Some(oldest) = kept.steps.keys().min_by_key(|(_, _, to)| *to).copied() else { break };
            kept.remove(&oldest);
        }
        kept.remove(&between);
        kept.records += step.news.len();
        kept.steps.insert(between, Arc::clone(step));
    }

    /// Returns a step that was worked out before.
    pub(crate) fn find(&self, between: &Between) -> Option<Arc<Step>> {
        self.kept().steps.get(between).cloned()
    }
}

impl Kept {
    fn remove(&mut self, between: &Between) {
        self.records -= self.steps.remove(between).map_or(0, |step| step.news.len());
    }
}

impl Step {
    /// Returns what a viewer is told between two heads.
    pub(crate) fn between(to: u64, tag: String, earlier: &Known, now: &Known) -> Self {
        let news = now.news_since(earlier);
        let data = (!news.is_empty()).then(|| {
            let entries =
                (news.len() <= RECORDS_MAX).then(|| news.iter().map(|(_, record)| record).collect());
            json_text(&EventData { head: now.head, tag: &tag, entries }).trim_end().into()
        });
        // An append tells of its own entries, which are the last ones.
        let first = to.saturating_sub(RECORDS_MAX as u64);
        let news = news.into_iter().filter(|(seq, _)| *seq > first).cloned().collect();
        Self { to, head: now.head, tag, news, data }
    }
}
