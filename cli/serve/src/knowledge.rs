//! What a viewer knows of a branch: how far that is settled, and what is new to it between two heads (SV-17, SV-18).

use std::collections::BTreeMap;

use bytes::Bytes;
use serde::Serialize;
use turnfold_history::viewer::seat_history::follow::{Follower, Known};
use turnfold_history::{LoggedRecord, Record};

use crate::counts::Counts;
use crate::event_id::EventId;
use crate::http::json_text;
use crate::memory::state_memory;

/// The most records of an event; a client that misses more reads the log again.
const RECORDS_MAX: usize = 1000;

/// What a record takes in memory, at least, and how many times its JSON.
const RECORD_BYTES: u64 = 512;
const RECORD_TIMES: u64 = 3;

/// What is new to a viewer between two heads.
#[derive(Debug)]
pub(crate) struct Delta {
    /// The later head, as the log counts.
    pub(crate) to: u64,
    /// The later head, as the viewer counts.
    pub(crate) head: u64,
    /// The tag of what the viewer sees there.
    pub(crate) tag: String,
    /// What it did not know before, or otherwise, of the last entries, each with its number in the log.
    pub(crate) news: Vec<(u64, LoggedRecord)>,
    /// The event of it; `None` when nothing visible changed.
    pub(crate) event: Option<Bytes>,
}

/// The data of an event (SV-18).
#[derive(Serialize)]
struct EventData<'a> {
    head: u64,
    tag: &'a str,
    entries: Option<Vec<&'a LoggedRecord>>,
}

impl Delta {
    /// Returns what is new to a viewer between two heads.
    pub(crate) fn between(to: u64, tag: String, mark: String, earlier: &Known, now: &Known) -> Self {
        let head = now.head;
        let news = now.news_since(earlier);
        let event = (!news.is_empty()).then(|| {
            let entries =
                (news.len() <= RECORDS_MAX).then(|| news.iter().map(|(_, record)| record).collect());
            let data = json_text(&EventData { head, tag: &tag, entries });
            let id = EventId { head, mark: Some(mark) };
            format!("id: {id}\nevent: entries\ndata: {}\n\n", data.trim_end()).into()
        });
        // An append answers with its own entries, which are the last ones.
        let first = to.saturating_sub(RECORDS_MAX as u64);
        let news = news.into_iter().filter(|(seq, _)| *seq > first).cloned().collect();
        Self { to, head, tag, news, event }
    }

    /// Returns the records of the entries after one of the log.
    pub(crate) fn records_after(&self, seq: u64) -> Vec<Record> {
        let news = self.news.iter().filter(|(own, _)| *own > seq);
        news.map(|(_, logged)| logged.record.clone()).collect()
    }

    /// Returns how many bytes it takes.
    pub(crate) fn bytes(&self) -> u64 {
        let event = self.event.as_ref().map_or(0, Bytes::len) as u64;
        let records = self.news.len() as u64;
        event + (records * RECORD_BYTES).max(event.min(records << 16) * RECORD_TIMES)
    }
}

/// A follower, and the head at which what it settled was wholly shown. At an earlier head some of it may not have been
/// shown yet, so it serves no viewer that knows no more than that.
pub(crate) struct Cursor {
    pub(crate) at: u64,
    pub(crate) follower: Follower,
}

/// How many entries a follower for clients that lag may leave unsettled before another takes its place.
const BEHIND_MAX: u64 = 256;

/// What a mark takes in memory.
const MARK_BYTES: u64 = 64;

/// The most marks that are kept of a viewer.
const MARKS_MAX: usize = 256;

/// What a viewer knows: a cursor for clients that follow closely, one for clients that lag or come again, and what it counted.
#[derive(Default)]
pub(crate) struct Knowledge {
    ahead: Option<Cursor>,
    behind: Option<Cursor>,
    pub(crate) counts: Counts,
    /// The marks of histories, by how many of their entries it knows of.
    marks: BTreeMap<u64, String>,
}

impl Knowledge {
    /// Returns the nearest follower that serves a viewer that knows everything up to a head.
    pub(crate) fn nearest(&self, from: u64) -> Option<&Follower> {
        let both = [&self.ahead, &self.behind].into_iter().flatten();
        both.filter(|cursor| cursor.at <= from).max_by_key(|cursor| cursor.at).map(|it| &it.follower)
    }

    /// Keeps a follower where it helps others.
    pub(crate) fn keep(&mut self, new: Cursor) {
        let Some(ahead) = &self.ahead else {
            self.ahead = Some(new);
            return;
        };
        if new.at >= ahead.at {
            self.ahead = Some(new);
            return;
        }
        let serves =
            |old: &Cursor| old.at <= new.at && new.follower.settled() - old.follower.settled() <= BEHIND_MAX;
        if !self.behind.as_ref().is_some_and(serves) {
            self.behind = Some(new);
        }
    }

    /// Returns the mark of the history in which a viewer first counted this many entries, if it is kept.
    pub(crate) fn mark(&self, count: u64) -> Option<String> {
        self.marks.get(&count).cloned()
    }

    /// Keeps a mark; a viewer that comes again was here lately.
    pub(crate) fn keep_mark(&mut self, count: u64, mark: String) {
        self.marks.insert(count, mark);
        if self.marks.len() > MARKS_MAX {
            self.marks.pop_first();
        }
    }

    /// Returns how many bytes it takes, where a state has `state_bytes`.
    pub(crate) fn bytes(&self, state_bytes: u64) -> u64 {
        let cursors = u64::from(self.ahead.is_some()) + u64::from(self.behind.is_some());
        cursors * state_memory(state_bytes) + self.counts.bytes() + self.marks.len() as u64 * MARK_BYTES
    }
}
