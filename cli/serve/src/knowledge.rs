//! What a viewer knows of a branch: how far it is settled, and what is new between two heads (SV-17, SV-18).

use std::collections::BTreeMap;

use bytes::Bytes;
use serde::Serialize;
use turnfold_history::viewer::seat_history::follow::{Follower, Known};
use turnfold_history::{LoggedRecord, Record};

use crate::counts::Counts;
use crate::event_id::EventId;
use crate::http::json_text;
use crate::memory::state_memory;

/// The most records of an event. A client that misses more has to read the log again.
const RECORDS_MAX: usize = 1000;

/// The memory of a record: `RECORD_TIMES` times its JSON, but at least `RECORD_BYTES`.
const RECORD_BYTES: u64 = 512;
const RECORD_TIMES: u64 = 3;

/// What is new to a viewer between two heads.
#[derive(Debug)]
pub(crate) struct Delta {
    /// The later head, in the log's numbering.
    pub(crate) to: u64,
    /// The later head, in the viewer's numbering.
    pub(crate) head: u64,
    /// The tag of what the viewer sees there.
    pub(crate) tag: String,
    /// New and changed records of the last entries, each with its number in the log.
    pub(crate) news: Vec<(u64, LoggedRecord)>,
    /// The event to send; `None` if nothing visible changed.
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
        // Only appends need these records. They return their own entries, which are the last ones.
        let first = to.saturating_sub(RECORDS_MAX as u64);
        let news = news.into_iter().filter(|(seq, _)| *seq > first).cloned().collect();
        Self { to, head, tag, news, event }
    }

    /// Returns the records of the entries after entry `seq` of the log.
    pub(crate) fn records_after(&self, seq: u64) -> Vec<Record> {
        let news = self.news.iter().filter(|(own, _)| *own > seq);
        news.map(|(_, logged)| logged.record.clone()).collect()
    }

    /// Returns the estimated bytes in memory.
    pub(crate) fn bytes(&self) -> u64 {
        let event = self.event.as_ref().map_or(0, Bytes::len) as u64;
        let records = self.news.len() as u64;
        event + (records * RECORD_BYTES).max(event.min(records << 16) * RECORD_TIMES)
    }
}

/// A follower, and the head at which all its settled entries were wholly shown. At an earlier head some of them may
/// have been concealed, so it does not serve a client that knows only that head.
pub(crate) struct Cursor {
    pub(crate) at: u64,
    pub(crate) follower: Follower,
}

/// A follower for clients that lag is replaced by one that has settled more than this many further entries.
const BEHIND_MAX: u64 = 256;

/// The memory of a mark.
const MARK_BYTES: u64 = 64;

/// The most marks that are kept for a viewer.
const MARKS_MAX: usize = 256;

/// What a viewer knows: a cursor for clients that follow closely, one for clients that lag or reconnect, and how many
/// entries the viewer sees.
#[derive(Default)]
pub(crate) struct Knowledge {
    ahead: Option<Cursor>,
    behind: Option<Cursor>,
    pub(crate) counts: Counts,
    /// The marks of histories, by the number of their entries that the viewer knows of.
    marks: BTreeMap<u64, String>,
}

impl Knowledge {
    /// Returns the latest follower that serves a client that knows everything up to a head.
    pub(crate) fn nearest(&self, from: u64) -> Option<&Follower> {
        let both = [&self.ahead, &self.behind].into_iter().flatten();
        both.filter(|cursor| cursor.at <= from).max_by_key(|cursor| cursor.at).map(|it| &it.follower)
    }

    /// Keeps a follower if it helps other clients.
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

    /// Returns the mark of the history in which the viewer first saw `count` entries, if it is kept.
    pub(crate) fn mark(&self, count: u64) -> Option<String> {
        self.marks.get(&count).cloned()
    }

    /// Keeps a mark. The mark of the fewest entries goes first, because a client that reconnects was connected lately.
    pub(crate) fn keep_mark(&mut self, count: u64, mark: String) {
        self.marks.insert(count, mark);
        if self.marks.len() > MARKS_MAX {
            self.marks.pop_first();
        }
    }

    /// Returns the bytes in memory, if a state has `state_bytes` bytes.
    pub(crate) fn bytes(&self, state_bytes: u64) -> u64 {
        let cursors = u64::from(self.ahead.is_some()) + u64::from(self.behind.is_some());
        cursors * state_memory(state_bytes) + self.counts.bytes() + self.marks.len() as u64 * MARK_BYTES
    }
}
