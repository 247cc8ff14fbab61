//! Steps: what a viewer is told between two heads of a branch, kept for all who follow (SV-17, SV-18).

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;
use turnfold_replay::LoggedRecord;
use turnfold_replay::sight::follow::{Follower, Known};

use crate::auth::Viewpoint;
use crate::http::json_text;

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
    pub(crate) followers: Mutex<BTreeMap<Viewpoint, Follower>>,
}

impl Steps {
    /// Forgets all but what somebody works out just now.
    pub(crate) fn forget_if_idle(&self) {
        if let (Ok(mut steps), Ok(mut followers)) = (self.steps.try_lock(), self.followers.try_lock()) {
            steps.clear();
            followers.clear();
        }
    }

    pub(crate) fn forget(&self) {
        self.steps.lock().unwrap_or_else(PoisonError::into_inner).clear();
        self.followers.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    pub(crate) fn keep(&self, between: Between, step: &Arc<Step>) {
        let mut steps = self.steps.lock().unwrap_or_else(PoisonError::into_inner);
        while steps.len() >= STEPS_MAX {
            let Some(oldest) = steps.keys().min_by_key(|(_, _, to)| *to).copied() else { break };
            steps.remove(&oldest);
        }
        steps.insert(between, Arc::clone(step));
    }

    pub(crate) fn kept(&self, between: &Between) -> Option<Arc<Step>> {
        self.steps.lock().unwrap_or_else(PoisonError::into_inner).get(between).cloned()
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
        Self { to, head: now.head, tag, news: news.into_iter().cloned().collect(), data }
    }
}
