//! What a viewer sees and knows of a branch: positions and histories, and what is new between two heads, computed once for
//! all clients (SV-17 to SV-19).

use std::fmt;
use std::str::FromStr;

use turnfold_history::{
    History, HistorySource, LogEntry, LoggedRecord, MatchStanding, Record, SeatHistory, SourceName,
    ViewedEntry,
};
use turnfold_show::render::WhoseTurn;

use crate::auth::derived_hash;
use crate::branch_cache::{Memory, MemoryShare};
use crate::documents;
use crate::http::json_text;
use crate::limits::SHORT_LOG;
use crate::prelude::*;

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

/// How many wholly shown entries may follow the settled ones before they are settled, too.
const UNSETTLED_MAX: u64 = 256;

/// Heads are in the log's numbering. An optional `at` is an entry in the viewer's numbering; `None` is the head.
#[derive(Clone, Copy)]
pub(crate) struct Looking<'a> {
    branch: &'a OpenBranch,
    app: &'a App,
    viewer: Viewer,
}

impl OpenBranch {
    pub(crate) fn seen_by<'a>(&'a self, app: &'a App, viewer: Viewer) -> Looking<'a> {
        Looking { branch: self, app, viewer }
    }

    pub(crate) fn head(&self, app: &App) -> ApiResult<u64> {
        self.current(app, |current| current.position.head)
    }

    pub(crate) fn state_of_log(&self, app: &App, seq: u64) -> ApiResult<Box<dyn AnyState>> {
        Ok(HistorySource::open(&SourceName::Revision(self.revision.at(seq)), app)?.state(None)?)
    }
}

impl Looking<'_> {
    pub(crate) fn state(self, at: Option<u64>) -> ApiResult<Box<dyn AnyState>> {
        match at {
            None => self.branch.current(self.app, |current| current.position.state.fork()),
            Some(at) if self.viewer.sees_all() => self.branch.state_of_log(self.app, at),
            Some(at) => Ok(self.history(None)?.state_at(at)?),
        }
    }

    pub(crate) fn standing(self, at: Option<u64>, state: &dyn AnyState) -> ApiResult<MatchStanding> {
        match self.viewer.standing(state) {
            Some(standing) => Ok(standing),
            None => Ok(self.history(at)?.standing()?),
        }
    }

    pub(crate) fn whose_turn(self, state: &dyn AnyState, seq: u64) -> ApiResult<WhoseTurn> {
        match WhoseTurn::seen_by(self.viewer, state) {
            Some(turn) => Ok(turn),
            None => Ok(WhoseTurn::of_history(&self.history_of_log(seq)?)?),
        }
    }

    pub(crate) fn history(self, at: Option<u64>) -> ApiResult<SeatHistory> {
        let history = self.history_of_log(self.branch.head(self.app)?)?;
        match at {
            Some(at) => Ok(history.up_to(at)?),
            None => Ok(history),
        }
    }

    pub(crate) fn history_of_log(self, at: u64) -> ApiResult<SeatHistory> {
        let mut source = self.branch.source(self.app)?;
        source.cut_after(at);
        if self.viewer.sees_all() {
            return Ok(SeatHistory::of(self.viewer, source)?);
        }
        // Messages have no number of the log, which would show how many entries are concealed.
        Ok(self.folded(|knowledge| self.known(knowledge, at))?.history.read_from(source))
    }

    pub(crate) fn entries(self) -> ApiResult<SeatHistory> {
        let head = self.branch.head(self.app)?;
        if self.viewer.sees_all() {
            return self.history_of_log(head);
        }
        // Of a player's history, only the numbers are there.
        Ok(self.folded(|knowledge| self.known(knowledge, head))?.history)
    }

    pub(crate) fn head(self) -> ApiResult<u64> {
        if self.viewer.sees_all() { self.branch.head(self.app) } else { Ok(self.entries()?.head()) }
    }

    /// Returns `true` if the delta after a head can be computed without folding a long log.
    pub(crate) fn is_near(self, from: u64) -> bool {
        let viewers = self.branch.viewers();
        // It is locked as by `lock`, also after a thread that held it has panicked.
        viewers.clear_poison();
        let mut settled = 0;
        if let Ok(viewers) = viewers.try_lock()
            && let Some(knowledge) = viewers.get(&self.viewer)
            && let Some(cursor) = knowledge.nearest(from)
        {
            settled = cursor.settled;
        }
        self.branch.known_head().saturating_sub(settled) <= SHORT_LOG
    }

    pub(crate) fn delta(self, from: u64) -> ApiResult<Arc<Delta>> {
        let Self { branch, app, viewer } = self;
        if let Some(delta) = branch.delta_in_memory(viewer, from) {
            return Ok(delta);
        }
        let (to, shown) = branch.current(app, |head| (head.position.head, head.shown(viewer)))?;
        self.folded(|knowledge| {
            // Another thread may have computed it in the meantime.
            if let Some(delta) = branch.delta_in_memory(viewer, from) {
                return Ok(delta);
            }
            let cursor = self.cursor(knowledge, from)?;
            let entries = branch.entries(app, cursor.settled, to)?;
            let count = usize::try_from(from - cursor.settled).unwrap_or(usize::MAX);
            let sent = entries.get(..count).unwrap_or(&entries);
            let earlier = cursor.see(sent, true)?;
            let now = cursor.see(&entries, true)?;
            // Settle only what was wholly shown at the earlier head, because the cursor serves clients with that head.
            let cursor = cursor.settle(&earlier, sent, branch.share_of_state())?;
            knowledge.keep(cursor);
            if !viewer.sees_all() {
                self.note(knowledge, &earlier)?;
            }
            let id = self.note(knowledge, &now)?;
            let delta = Arc::new(Delta::between(&earlier, &now, shown.tag, &id, &branch.memory));
            branch.keep_delta(viewer, from, &delta);
            Ok(delta)
        })
    }

    pub(crate) fn event_id(self, at: u64) -> ApiResult<EventId> {
        if self.viewer.sees_all() {
            return Ok(EventId { head: at, mark: Some(self.mark(at, NO_TIMES)?) });
        }
        self.folded(|knowledge| {
            let known = self.known(knowledge, at)?;
            self.note(knowledge, &known)
        })
    }

    pub(crate) fn resume(self, id: &EventId, may_fold: bool) -> ApiResult<Resumed> {
        let head = self.branch.head(self.app)?;
        if id.head > head {
            return Ok(Resumed::Other);
        }
        if id.head == 0 || self.viewer.sees_all() {
            let is_same = id.mark.is_none() || *id == self.event_id(id.head)?;
            return Ok(if is_same { Resumed::Behind(id.head) } else { Resumed::Other });
        }
        self.folded(|knowledge| {
            loop {
                match knowledge.noted.resumed(id, head) {
                    Resumed::Folds(at) if may_fold => {
                        let known = self.known(knowledge, at)?;
                        self.note(knowledge, &known)?;
                    }
                    resumed => return Ok(resumed),
                }
            }
        })
    }

    /// Calls `fold` with what the viewer knows. Other threads that fold the branch wait.
    fn folded<T>(self, fold: impl FnOnce(&mut Knowledge) -> ApiResult<T>) -> ApiResult<T> {
        loop {
            let viewers = self.branch.viewers();
            let mut held = lock(&viewers);
            // The branch may have been forgotten while this thread waited, and then this is of what was read before.
            if Arc::ptr_eq(&viewers, &self.branch.viewers()) {
                return fold(held.entry(self.viewer).or_default());
            }
        }
    }

    /// Returns a cursor that serves a client with this head.
    fn cursor(self, knowledge: &mut Knowledge, head: u64) -> ApiResult<&Cursor> {
        let Self { branch, app, viewer } = self;
        if knowledge.nearest(head).is_none() {
            let mut source = branch.source(app)?;
            source.cut_after(head);
            let at = if viewer.sees_all() { head } else { 0 };
            let state = if viewer.sees_all() { source.state(None)? } else { source.history.start()? };
            let share = branch.share_of_state();
            let start = source.history;
            let mut cursor = Cursor { at, viewer, start, settled: at, state, times: NO_TIMES, _share: share };
            if !viewer.sees_all() {
                let entries = branch.entries(app, 0, head)?;
                let known = cursor.see(&entries, false)?;
                cursor = cursor.settle(&known, &entries, branch.share_of_state())?;
            }
            knowledge.keep(cursor);
        }
        knowledge.nearest(head).ok_or_else(Problem::internal)
    }

    fn known(self, knowledge: &mut Knowledge, at: u64) -> ApiResult<Known> {
        let cursor = self.cursor(knowledge, at)?;
        let entries = self.branch.entries(self.app, cursor.settled, at)?;
        let known = cursor.see(&entries, false)?;
        if known.history.settled() > cursor.settled + UNSETTLED_MAX {
            let cursor = cursor.settle(&known, &entries, self.branch.share_of_state())?;
            knowledge.keep(cursor);
        }
        Ok(known)
    }

    fn note(self, knowledge: &mut Knowledge, known: &Known) -> ApiResult<EventId> {
        let id = EventId { head: known.history.head(), mark: Some(self.mark(known.at, known.times)?) };
        knowledge.noted.note(known.at, id.clone(), &self.branch.memory);
        Ok(id)
    }

    /// Returns the mark of the history up to a head. `times` are those of its entries.
    fn mark(self, at: u64, times: Digest) -> ApiResult<String> {
        let match_id = self.branch.match_id(self.app)?;
        let mut known_by = times;
        if self.viewer.sees_all() {
            let Revision { match_name, branch, .. } = &self.branch.revision;
            let links = self.app.store.links(match_name, branch, at..=at)?;
            known_by = *links.last().ok_or_else(Problem::internal)?;
        }
        // Only a viewer who sees all may know the link, so for others the digest of the times stands for the history.
        let viewer = self.viewer.to_string();
        let parts = [viewer.as_bytes(), &[0], &match_id, known_by.as_bytes()];
        let hash = derived_hash("turnfold v1 event id", &parts).to_hex();
        Ok(hash.get(..DIGITS).unwrap_or_default().into())
    }
}

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

/// The data of an event `entries`.
#[derive(Serialize, ToSchema)]
pub(crate) struct EntriesEvent<'a> {
    /// The number of the last entry, in the viewer's numbering.
    head: u64,
    /// The tag of the viewer's view there.
    tag: &'a str,
    /// The new and changed entries; null if there are more than 1,000, so that the log has to be read again.
    #[schema(required = true, value_type = Option<Vec<documents::LoggedRecordSchema>>)]
    entries: Option<Vec<&'a LoggedRecord>>,
}

impl Delta {
    /// `id` is the id of the later head.
    fn between(earlier: &Known, now: &Known, tag: String, id: &EventId, memory: &Memory) -> Self {
        let to = now.at;
        let head = id.head;
        let news = LoggedRecord::news_since(&earlier.records, &now.records);
        // Only appends need these records. They return their own entries, which are the last ones.
        let passed = now.history.known_within(earlier.at.max(to.saturating_sub(RECORDS_MAX as u64)));
        let mut records = Vec::new();
        for logged in &news {
            if logged.record.seq > Some(passed) {
                records.push(logged.record.clone());
            }
        }
        // SV-18: a client that misses more records than an event may have reads the log again.
        let event: Option<Bytes> = (!news.is_empty()).then(|| {
            let entries = if news.len() <= RECORDS_MAX { Some(news) } else { None };
            let data = json_text(&EntriesEvent { head, tag: &tag, entries });
            format!("id: {id}\nevent: entries\ndata: {}\n\n", data.trim_end()).into()
        });
        let text = event.as_ref().map_or(0, Bytes::len) as u64;
        let count = records.len() as u64;
        let bytes = text + (count * RECORD_BYTES).max(text.min(count << 16) * RECORD_TIMES);
        Self { to, head, tag, records, event, _share: memory.share(bytes) }
    }
}

/// How far a viewer's history is settled. Settled entries are never folded again.
struct Cursor {
    /// The head at which all settled entries were wholly shown. At an earlier head some of them may have been concealed,
    /// so the cursor does not serve a client that knows only that head.
    at: u64,
    viewer: Viewer,
    /// The history without entries.
    start: History,
    /// The last settled entry. Its number is the same in the log and in the viewer's numbering.
    settled: u64,
    /// The state after the settled entries.
    state: Box<dyn AnyState>,
    /// The digest of the times of the settled entries; only for a player.
    times: Digest,
    _share: MemoryShare,
}

/// What a viewer knows at a head of the log.
struct Known {
    at: u64,
    /// The history, for its numbers alone: only the entries after the settled ones are in it.
    history: SeatHistory,
    /// The records of the known entries after those that were settled before, if they were asked for.
    records: Vec<LoggedRecord>,
    /// The digest of the times of all entries that the viewer knows of.
    times: Digest,
}

impl Cursor {
    /// Returns what the viewer knows after the last of `entries`, which begin after the settled ones.
    fn see(&self, entries: &[LogEntry], with_records: bool) -> ApiResult<Known> {
        let history = History { entries: entries.to_vec(), ..self.start.until(0) };
        let source = HistorySource::of_end(history, self.settled);
        let mut records = Vec::new();
        let mut times = self.times;
        let observe = &mut |seen: &mut ViewedEntry<'_>| {
            times = with_time(times, seen.recorded_at_ms());
            if with_records {
                records.push(seen.logged_record());
            }
        };
        let history = SeatHistory::after(self.viewer, source, self.settled, &*self.state, observe)?;
        let at = entries.last().map_or(self.settled, |last| last.seq);
        Ok(Known { at, history, records, times })
    }

    /// Returns the cursor for clients that know what is known, after it has settled those of `entries` that are wholly
    /// shown to them. `known` was made of these entries.
    fn settle(&self, known: &Known, entries: &[LogEntry], share: MemoryShare) -> ApiResult<Self> {
        let Known { at, history, .. } = known;
        let settled = history.settled();
        let mut state = self.state.fork();
        history.advance(state.as_mut(), self.settled, settled)?;
        let mut times = self.times;
        for entry in entries {
            if entry.seq <= settled {
                times = with_time(times, entry.recorded_at_ms);
            }
        }
        Ok(Self {
            at: *at,
            viewer: self.viewer,
            start: self.start.until(0),
            settled,
            state,
            times,
            _share: share,
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Resumed {
    /// Behind this head, in the log's numbering. Everything that was revealed later is sent, perhaps some of it once
    /// more.
    Behind(u64),
    /// The client knows another history, or more entries than the viewer sees.
    Other,
    /// To find out, the entries up to this head have to be folded and noted.
    Folds(u64),
}

pub(crate) type Viewers = BTreeMap<Viewer, Knowledge>;

/// What a viewer knows: a cursor for clients that follow closely, one for clients that lag or reconnect, and the ids of
/// heads.
#[derive(Default)]
pub(crate) struct Knowledge {
    ahead: Option<Cursor>,
    behind: Option<Cursor>,
    noted: NotedHeads,
}

impl Knowledge {
    /// Returns the latest cursor that serves a client with this head.
    fn nearest(&self, head: u64) -> Option<&Cursor> {
        let both = [&self.ahead, &self.behind].into_iter().flatten();
        both.filter(|cursor| cursor.at <= head).max_by_key(|cursor| cursor.at)
    }

    fn keep(&mut self, new: Cursor) {
        let serves = |old: &Cursor| old.at <= new.at && new.settled - old.settled <= BEHIND_MAX;
        if self.ahead.as_ref().is_none_or(|ahead| ahead.at <= new.at) {
            self.ahead = Some(new);
        } else if !self.behind.as_ref().is_some_and(serves) {
            self.behind = Some(new);
        }
    }
}

/// Heads of the log, each with the id of the history that a viewer knows there. Entries that are shown stay shown, so the
/// viewer's head only grows.
#[derive(Default)]
struct NotedHeads(BTreeMap<u64, (EventId, MemoryShare)>);

impl NotedHeads {
    fn note(&mut self, head: u64, id: EventId, memory: &Memory) {
        self.0.insert(head, (id, memory.share(NOTED_BYTES)));
        if self.0.len() > NOTED_MAX
            && let Some(middle) = self.0.keys().nth(NOTED_MAX / 2).copied()
        {
            // The earlier half goes, because a client that reconnects was connected lately. If one went, it could be the
            // one that a search has just noted, and the search would not end.
            self.0 = self.0.split_off(&middle);
        }
    }

    /// Returns where a client resumes that knows at least one entry. `head` is that of the log.
    fn resumed(&self, id: &EventId, head: u64) -> Resumed {
        let seen = id.head;
        // SV-19: find the first head at which the viewer sees as many entries as the client that reconnects.
        let mut below = 0;
        let mut reached = None;
        for (at, (known, _)) in self.0.range(..=head) {
            if known.head >= seen {
                reached = Some((*at, known));
                break;
            }
            below = *at;
        }
        let Some((first, known)) = reached else {
            return if below == head { Resumed::Other } else { Resumed::Folds(head) };
        };
        let low = below.max(seen - 1);
        if low + 1 < first {
            // Most histories conceal nothing, so try the head that equals the number first.
            return Resumed::Folds(if low > below { seen } else { low.midpoint(first) });
        }
        if id.mark.is_some() && id != known {
            return Resumed::Other;
        }
        // One entry may reveal several at once. A client that states only some of them is sent all of them.
        Resumed::Behind(if known.head == seen { first } else { first - 1 })
    }
}

const DIGITS: usize = 16;

pub(crate) const PATTERN: &str = "^(0|[1-9][0-9]{0,17})(-[0-9a-f]{16})?$";

/// The id of an event (SV-18): the head, and a mark of the history up to it. If another history has taken its place, a
/// client that reconnects is not sent the rest of that one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EventId {
    /// The head, in the viewer's numbering.
    pub(crate) head: u64,
    /// The mark of the history up to the head; `None` stands for any history.
    pub(crate) mark: Option<String>,
}

/// The digest of the times at which no entries were recorded.
const NO_TIMES: Digest = Digest::new([0; 32]);

/// Adds the next entry that a viewer knows of to a digest of the times at which entries were recorded. The digest
/// changes when the history is replaced by another one. It does not change when more of a known entry comes to light.
fn with_time(times: Digest, recorded_at_ms: Option<i64>) -> Digest {
    let time = recorded_at_ms.unwrap_or_default().to_be_bytes();
    derived_hash("turnfold v1 recorded times", &[times.as_bytes(), &time]).into()
}

impl fmt::Display for EventId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.mark {
            Some(mark) => write!(out, "{}-{mark}", self.head),
            None => write!(out, "{}", self.head),
        }
    }
}

impl FromStr for EventId {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let mut head = text;
        let mut mark = None;
        if let Some((before, after)) = text.split_once('-') {
            let is_digit = |byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
            if after.len() != DIGITS || !after.bytes().all(is_digit) {
                return Err(());
            }
            head = before;
            mark = Some(after.to_owned());
        }
        let head = turnfold_core::text::number(head).map_err(|_| ())?;
        i64::try_from(head).map_err(|_| ())?;
        Ok(Self { head, mark })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(head: u64) -> EventId {
        EventId { head, mark: None }
    }

    fn note(heads: &mut NotedHeads, head: u64, seen: u64) {
        heads.note(head, at(seen), &Memory::default());
    }

    /// Searches as a caller that folds does, and returns how often it folded.
    fn search(heads: &mut NotedHeads, all: &[u64], seen: u64) -> (Option<u64>, usize) {
        for folded in 0.. {
            match heads.resumed(&at(seen), all.len() as u64 - 1) {
                Resumed::Behind(head) => return (Some(head), folded),
                Resumed::Other => return (None, folded),
                Resumed::Folds(head) => note(heads, head, all[usize::try_from(head).unwrap()]),
            }
        }
        unreachable!("a search ends")
    }

    /// SV-19: what was seen at each head, from 0, and where each number of entries was first seen.
    #[test]
    fn the_first_head_is_found_by_few_folds_and_the_next_time_by_none() {
        let concealing = [0, 1, 1, 1, 2, 2, 5, 6, 6, 6, 6, 7, 7, 9];
        let expected = [1, 4, 5, 5, 6, 7, 11, 12, 13];
        let mut heads = NotedHeads::default();
        for (seen, first) in (1..).zip(expected) {
            assert_eq!(search(&mut heads, &concealing, seen).0, Some(first), "{seen}");
            assert_eq!(search(&mut heads, &concealing, seen), (Some(first), 0), "{seen}");
            let (alone, folded) = search(&mut NotedHeads::default(), &concealing, seen);
            assert!(alone == Some(first) && folded <= 6, "{seen}: {alone:?} by {folded}");
        }
        assert_eq!(search(&mut heads, &concealing, 10), (None, 0));
        // Where nothing is concealed, it takes two.
        let shown: Vec<u64> = (0..100_000).collect();
        assert_eq!(search(&mut NotedHeads::default(), &shown, 77_777), (Some(77_777), 2));
    }

    #[test]
    fn of_the_heads_that_were_noted_the_latest_stay() {
        let mut heads = NotedHeads::default();
        (1..=10_000).for_each(|head| note(&mut heads, head, head));
        assert!(heads.0.len() <= NOTED_MAX);
        assert_eq!(heads.resumed(&at(9_999), 10_000), Resumed::Behind(9_999));
        assert!(matches!(heads.resumed(&at(1_000), 10_000), Resumed::Folds(_)));
    }

    #[test]
    fn a_search_ends_among_as_many_heads_as_are_noted() {
        let shown: Vec<u64> = (0..=10_000).collect();
        let concealing: Vec<u64> = (0..=10_000).map(|head| head / 3).collect();
        for all in [shown, concealing] {
            let mut heads = NotedHeads::default();
            for (head, seen) in (0..).zip(&all).skip(10_001 - NOTED_MAX) {
                note(&mut heads, head, *seen);
            }
            let first = all.iter().position(|seen| *seen == 1_000).unwrap() as u64;
            let (found, folded) = search(&mut heads, &all, 1_000);
            assert!(found == Some(first) && folded <= 20, "{found:?} by {folded}");
        }
    }

    #[test]
    fn ids_are_written_as_they_are_read() {
        for text in ["0", "7", "7-0123456789abcdef"] {
            assert_eq!(text.parse::<EventId>().unwrap().to_string(), text);
        }
        for other in [
            "",
            "-",
            "7-",
            "07",
            "7-0123456789abcdeF",
            "7-0123456789abcde",
            "7-0-1",
            "+7",
            "9223372036854775808",
        ] {
            assert!(other.parse::<EventId>().is_err(), "{other}");
        }
    }
}
