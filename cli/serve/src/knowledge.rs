//! What a viewer knows of a branch: how far it is settled, and what is new between two heads (SV-17, SV-18).

use bytes::Bytes;
use serde::Serialize;
use turnfold_core::AnyState;
use turnfold_history::{
    History, HistorySource, LogEntry, LoggedRecord, Record, SeatHistory, ViewedEntry, Viewer,
};

use crate::branch_cache::{Memory, MemoryShare};
use crate::event_id::{EventId, Times};
use crate::http::json_text;
use crate::problem::ApiResult;

/// The most records of an event. A client that misses more has to read the log again.
const RECORDS_MAX: usize = 1000;

/// The memory of a record: `RECORD_TIMES` times its JSON, but at least `RECORD_BYTES`.
const RECORD_BYTES: u64 = 512;
const RECORD_TIMES: u64 = 3;

/// A cursor for clients that lag is replaced by one that has settled more than this many further entries.
const BEHIND_MAX: u64 = 256;

/// The most heads that are noted for a viewer, and the memory of each.
const NOTED_MAX: usize = 2048;
const NOTED_BYTES: u64 = 96;

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
    _share: MemoryShare,
}

#[derive(Serialize)]
struct EventData<'a> {
    head: u64,
    tag: &'a str,
    entries: Option<Vec<&'a LoggedRecord>>,
}

impl Delta {
    /// The heads are in the log's numbering, and `id` is the id of the later one.
    pub(crate) fn between(
        (from, earlier): (u64, &Known),
        (to, now): (u64, &Known),
        tag: String,
        id: &EventId,
        memory: &Memory,
    ) -> Self {
        let head = id.head;
        let news = LoggedRecord::news_since(&earlier.records, &now.records);
        // Only appends need these records. They return their own entries, which are the last ones.
        let passed = now.history.known_within(from.max(to.saturating_sub(RECORDS_MAX as u64)));
        let mut records = Vec::new();
        for logged in &news {
            if logged.record.seq > Some(passed) {
                records.push(logged.record.clone());
            }
        }
        // SV-18: a client that misses more records than an event may have reads the log again.
        let event: Option<Bytes> = (!news.is_empty()).then(|| {
            let entries = if news.len() <= RECORDS_MAX { Some(news) } else { None };
            let data = json_text(&EventData { head, tag: &tag, entries });
            format!("id: {id}\nevent: entries\ndata: {}\n\n", data.trim_end()).into()
        });
        let text = event.as_ref().map_or(0, Bytes::len) as u64;
        let count = records.len() as u64;
        let bytes = text + (count * RECORD_BYTES).max(text.min(count << 16) * RECORD_TIMES);
        Self { to, head, tag, records, event, _share: memory.share(bytes) }
    }
}

/// How far a viewer's history is settled. Settled entries are never folded again.
pub(crate) struct Cursor {
    /// The head at which all settled entries were wholly shown. At an earlier head some of them may have been concealed,
    /// so the cursor does not serve a client that knows only that head.
    at: u64,
    viewer: Viewer,
    /// The history without entries.
    start: History,
    /// The last settled entry. Its number is the same in the log and in the viewer's numbering.
    pub(crate) settled: u64,
    /// The state after the settled entries.
    state: Box<dyn AnyState>,
    /// The times of the settled entries.
    times: Times,
    _share: MemoryShare,
}

pub(crate) struct Known {
    /// The history, for its numbers alone: only the entries after the settled ones are in it.
    pub(crate) history: SeatHistory,
    /// The records of the known entries after those that were settled before, if they were asked for.
    pub(crate) records: Vec<LoggedRecord>,
    /// The times of all entries that the viewer knows of.
    pub(crate) times: Times,
}

impl Cursor {
    /// Entry `settled` and all before it must be wholly shown to the viewer. The times are needed for a player only.
    pub(crate) fn new(
        viewer: Viewer,
        start: History,
        settled: u64,
        state: Box<dyn AnyState>,
        share: MemoryShare,
    ) -> Self {
        Self { at: settled, viewer, start, settled, state, times: Times::default(), _share: share }
    }

    /// Returns what the viewer knows after the last of `entries`, which begin after the settled ones.
    pub(crate) fn see(&self, entries: &[LogEntry], with_records: bool) -> ApiResult<Known> {
        let history = History { entries: entries.to_vec(), ..self.start.until(0) };
        let source = HistorySource::of_end(history, self.settled);
        let mut records = Vec::new();
        let mut times = self.times;
        let observe = &mut |seen: &mut ViewedEntry<'_>| {
            times = times.and(seen.recorded_at_ms());
            if with_records {
                records.push(seen.logged_record());
            }
        };
        let history = SeatHistory::after(self.viewer, source, self.settled, self.state.as_ref(), observe)?;
        Ok(Known { history, records, times })
    }

    /// Returns the cursor for clients that know head `at`, after it has settled those of `entries` that are wholly shown
    /// there. They are what `known` was made of.
    pub(crate) fn settle(
        &self,
        at: u64,
        known: &SeatHistory,
        entries: &[LogEntry],
        share: MemoryShare,
    ) -> ApiResult<Self> {
        let settled = known.settled();
        let mut state = self.state.fork();
        known.advance(state.as_mut(), self.settled, settled)?;
        let mut times = self.times;
        for entry in entries.iter().filter(|entry| entry.seq <= settled) {
            times = times.and(entry.recorded_at_ms);
        }
        Ok(Self { at, viewer: self.viewer, start: self.start.until(0), settled, state, times, _share: share })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Resumed {
    /// Behind this head, in the log's numbering. Everything that was revealed later is sent, perhaps some of it once
    /// more.
    Behind(u64),
    /// The viewer does not see that many entries yet.
    NotYet,
    /// The client knows another history.
    Other,
    /// To find out, the entries up to this head have to be folded and noted.
    Folds(u64),
}

/// What a viewer knows: a cursor for clients that follow closely, one for clients that lag or reconnect, and the ids of
/// heads.
pub(crate) struct Knowledge {
    ahead: Option<Cursor>,
    behind: Option<Cursor>,
    /// Heads of the log in their order, from 0, each with the id of the history that the viewer knows there. Entries
    /// that are shown stay shown, so the viewer's head only grows.
    noted: Vec<(u64, EventId)>,
    share: MemoryShare,
}

impl Knowledge {
    /// `start` is the id of the history before its first entry.
    pub(crate) fn new(start: EventId, memory: &Memory) -> Self {
        Self { ahead: None, behind: None, noted: vec![(0, start)], share: memory.share(NOTED_BYTES) }
    }

    pub(crate) fn nearest(&self, from: u64) -> Option<&Cursor> {
        let both = [&self.ahead, &self.behind].into_iter().flatten();
        both.filter(|cursor| cursor.at <= from).max_by_key(|cursor| cursor.at)
    }

    pub(crate) fn keep(&mut self, new: Cursor) {
        let serves = |old: &Cursor| old.at <= new.at && new.settled - old.settled <= BEHIND_MAX;
        if self.ahead.as_ref().is_none_or(|ahead| ahead.at <= new.at) {
            self.ahead = Some(new);
        } else if !self.behind.as_ref().is_some_and(serves) {
            self.behind = Some(new);
        }
    }

    pub(crate) fn note(&mut self, head: u64, id: EventId) {
        let Err(index) = self.noted.binary_search_by_key(&head, |noted| noted.0) else { return };
        self.noted.insert(index, (head, id));
        if self.noted.len() > NOTED_MAX {
            // The older half goes, because a client that reconnects was connected lately.
            self.noted.drain(1..=NOTED_MAX / 2);
        }
        self.share.set(self.noted.len() as u64 * NOTED_BYTES);
    }

    pub(crate) fn resumed(&self, id: &EventId, head: u64) -> Resumed {
        let seen = id.head;
        if seen > head {
            // A viewer cannot see more entries than there are.
            return Resumed::NotYet;
        }
        // SV-19: find the first head at which the viewer sees as many entries as the client that reconnects.
        let upto = self.noted.partition_point(|noted| noted.0 <= head);
        let noted = self.noted.get(..upto).unwrap_or(&self.noted);
        let fewer = noted.partition_point(|noted| noted.1.head < seen);
        let below = fewer.checked_sub(1).and_then(|last| noted.get(last)).map_or(0, |noted| noted.0);
        let Some((first, found)) = noted.get(fewer) else {
            return if below == head { Resumed::NotYet } else { Resumed::Folds(head) };
        };
        let low = below.max(seen.saturating_sub(1));
        if seen > 0 && low + 1 < *first {
            // Most histories conceal nothing, so try the head that equals the number first.
            return Resumed::Folds(if low > below { seen } else { low.midpoint(*first) });
        }
        if id.mark.is_some() && id != found {
            return Resumed::Other;
        }
        // One entry may reveal several at once. A client that states only some of them is sent all of them.
        Resumed::Behind(if found.head == seen { *first } else { first - 1 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(head: u64) -> EventId {
        EventId { head, mark: None }
    }

    fn unknown() -> Knowledge {
        Knowledge::new(at(0), &Memory::default())
    }

    /// Searches as a caller that folds does, and returns how often it folded.
    fn search(knowledge: &mut Knowledge, all: &[u64], seen: u64) -> (Option<u64>, usize) {
        for folded in 0.. {
            match knowledge.resumed(&at(seen), all.len() as u64 - 1) {
                Resumed::Behind(head) => return (Some(head), folded),
                Resumed::NotYet | Resumed::Other => return (None, folded),
                Resumed::Folds(head) => knowledge.note(head, at(all[usize::try_from(head).unwrap()])),
            }
        }
        unreachable!("a search ends")
    }

    /// SV-19: what was seen at each head, from 0, and where each number of entries was first seen.
    #[test]
    fn the_first_head_is_found_by_few_folds_and_the_next_time_by_none() {
        let concealing = [0, 1, 1, 1, 2, 2, 5, 6, 6, 6, 6, 7, 7, 9];
        let expected = [0, 1, 4, 5, 5, 6, 7, 11, 12, 13];
        let mut knowledge = unknown();
        for (seen, first) in (0..).zip(expected) {
            assert_eq!(search(&mut knowledge, &concealing, seen).0, Some(first), "{seen}");
            assert_eq!(search(&mut knowledge, &concealing, seen), (Some(first), 0), "{seen}");
            let (alone, folded) = search(&mut unknown(), &concealing, seen);
            assert!(alone == Some(first) && folded <= 6, "{seen}: {alone:?} by {folded}");
        }
        assert_eq!(search(&mut knowledge, &concealing, 10), (None, 0));
        // Where nothing is concealed, it takes two.
        let shown: Vec<u64> = (0..100_000).collect();
        assert_eq!(search(&mut unknown(), &shown, 77_777), (Some(77_777), 2));
    }

    #[test]
    fn of_the_heads_that_were_noted_the_latest_stay() {
        let mut knowledge = unknown();
        (1..=10_000).for_each(|head| knowledge.note(head, at(head)));
        assert!(knowledge.noted.len() <= NOTED_MAX + 1);
        assert_eq!(knowledge.resumed(&at(9_999), 10_000), Resumed::Behind(9_999));
        assert_eq!(knowledge.resumed(&at(0), 10_000), Resumed::Behind(0));
        assert!(matches!(knowledge.resumed(&at(1_000), 10_000), Resumed::Folds(_)));
    }
}
