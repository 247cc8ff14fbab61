//! What a viewer knows of a branch: how far it is settled, and what is new between two heads (SV-17, SV-18).

use std::collections::BTreeMap;

use bytes::Bytes;
use serde::Serialize;
use turnfold_core::AnyState;
use turnfold_history::{
    History, HistorySource, LogEntry, LoggedRecord, Record, SeatHistory, ViewedEntry, Viewer,
};

use crate::counts::Counts;
use crate::event_id::{EventId, Times};
use crate::http::json_text;
use crate::memory::state_memory;
use crate::problem::ApiResult;

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
    /// The records of the entries after the earlier head, at most the last ones.
    pub(crate) records: Vec<Record>,
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
    /// Returns what is new to a viewer between head `from`, in the log's numbering, and a later one.
    pub(crate) fn between(
        from: u64,
        to: u64,
        tag: String,
        mark: String,
        earlier: &Known,
        now: &Known,
    ) -> Self {
        let head = now.history.head();
        let news = LoggedRecord::news_since(&earlier.records, &now.records);
        // Only appends need these records. They return their own entries, which are the last ones.
        let passed = now.history.known_within(from.max(to.saturating_sub(RECORDS_MAX as u64)));
        let records = news.iter().map(|logged| &logged.record).filter(|record| record.seq > Some(passed));
        let records = records.cloned().collect();
        let event = (!news.is_empty()).then(|| {
            let entries = if news.len() <= RECORDS_MAX { Some(news) } else { None };
            let data = json_text(&EventData { head, tag: &tag, entries });
            let id = EventId { head, mark: Some(mark) };
            format!("id: {id}\nevent: entries\ndata: {}\n\n", data.trim_end()).into()
        });
        Self { to, head, tag, records, event }
    }

    /// Returns the estimated bytes in memory.
    pub(crate) fn bytes(&self) -> u64 {
        let event = self.event.as_ref().map_or(0, Bytes::len) as u64;
        let records = self.records.len() as u64;
        event + (records * RECORD_BYTES).max(event.min(records << 16) * RECORD_TIMES)
    }
}

/// What a stream keeps of a viewer's history between entries: how far it is settled, which is never folded again.
pub(crate) struct Cursor {
    /// The head at which all settled entries were wholly shown. At an earlier head some of them may have been concealed,
    /// so the cursor does not serve a client that knows only that head.
    pub(crate) at: u64,
    viewer: Viewer,
    /// The history without entries.
    start: History,
    settled: u64,
    /// The state after the settled entries.
    state: Box<dyn AnyState>,
    /// The times of the settled entries.
    times: Times,
}

/// What a viewer knows at a head.
pub(crate) struct Known {
    /// The history, for its numbers alone: only the entries after the settled ones are in it.
    pub(crate) history: SeatHistory,
    /// The records of the known entries after those that were settled before.
    pub(crate) records: Vec<LoggedRecord>,
    /// The times of all entries that the viewer knows of.
    pub(crate) times: Times,
}

impl Cursor {
    /// Returns a cursor after entry `settled` and its state. That entry and all before it must be wholly shown to the
    /// viewer. The times are needed for a player only.
    pub(crate) fn new(viewer: Viewer, start: History, settled: u64, state: Box<dyn AnyState>) -> Self {
        Self { at: settled, viewer, start, settled, state, times: Times::default() }
    }

    /// Returns the number of the last settled entry. It is the same in the log and in the viewer's numbering.
    pub(crate) fn settled(&self) -> u64 {
        self.settled
    }

    /// Returns what the viewer knows after the last of `entries`, which begin after the settled ones.
    pub(crate) fn known(&self, entries: &[LogEntry]) -> ApiResult<Known> {
        let mut records = Vec::new();
        let known = self.see(entries, &mut |seen| records.push(seen.logged_record()))?;
        Ok(Known { records, ..known })
    }

    /// Returns what the viewer knows, without records, and passes the known entries to `observe`.
    pub(crate) fn see(
        &self,
        entries: &[LogEntry],
        observe: &mut dyn FnMut(&mut ViewedEntry<'_>),
    ) -> ApiResult<Known> {
        let mut times = self.times;
        let history = History { entries: entries.to_vec(), ..self.start.until(0) };
        let source = HistorySource::of_end(history, self.settled);
        let history =
            SeatHistory::after(self.viewer, source, self.settled, self.state.as_ref(), &mut |seen| {
                times = times.and(seen.recorded_at_ms());
                observe(seen);
            })?;
        Ok(Known { history, records: Vec::new(), times })
    }

    /// Returns the cursor for clients that know head `at`, after it has settled those of `entries` that are wholly shown
    /// there. They are what `known` was made of.
    pub(crate) fn settle(&self, at: u64, known: &SeatHistory, entries: &[LogEntry]) -> ApiResult<Self> {
        let settled = known.settled();
        let mut state = self.state.fork();
        known.advance(state.as_mut(), self.settled, settled)?;
        let mut times = self.times;
        for entry in entries.iter().filter(|entry| entry.seq <= settled) {
            times = times.and(entry.recorded_at_ms);
        }
        Ok(Self { at, viewer: self.viewer, start: self.start.until(0), settled, state, times })
    }
}

/// A cursor for clients that lag is replaced by one that has settled more than this many further entries.
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
    /// Returns the latest cursor that serves a client that knows everything up to a head.
    pub(crate) fn nearest(&self, from: u64) -> Option<&Cursor> {
        let both = [&self.ahead, &self.behind].into_iter().flatten();
        both.filter(|cursor| cursor.at <= from).max_by_key(|cursor| cursor.at)
    }

    /// Keeps a cursor if it helps other clients.
    pub(crate) fn keep(&mut self, new: Cursor) {
        let Some(ahead) = &self.ahead else {
            self.ahead = Some(new);
            return;
        };
        if new.at >= ahead.at {
            self.ahead = Some(new);
            return;
        }
        let serves = |old: &Cursor| old.at <= new.at && new.settled - old.settled <= BEHIND_MAX;
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
