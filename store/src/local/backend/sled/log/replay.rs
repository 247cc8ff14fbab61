//! Replaying: the page table brought from the newest snapshot up to the end of the log, or a reason not to.
//!
//! Where the log is sound this comes to what sled comes to, step by step. Where sled would take damage for the end of
//! the log, or for a segment that is used again, this refuses.

use std::collections::BTreeMap;

use super::message::{self, Kind, Message, Search};
use super::segment::{
    HEADER_BYTES, Header, Headers, LogFile, SEGMENT_BYTES, SegmentBytes, base, is_zero, number_of,
};
use super::snapshot::{PageState, Part, Snapshot};
use super::{Lsn, damaged};
use crate::local::backend::BackendError;

/// The log as it was found.
pub(super) struct Recovered {
    /// The page table at the tip, as sled's next snapshot.
    pub(super) snapshot: Snapshot,
    /// The position up to which sled's newest snapshot covers the log.
    pub(super) old_lsn: Option<Lsn>,
    /// A message that is not sound, in a segment of which nothing tells damage from the beginning of another use.
    pub(super) in_doubt: Option<Lsn>,
}

/// Segments by the position at which they begin.
type Ordering = BTreeMap<Lsn, u64>;

/// Where a walk along the log ended.
struct End {
    /// The position of the next message; `None` when no segment was read.
    at: Option<Lsn>,
    /// The segment in which that is; `None` when it is used up.
    segment: Option<u64>,
    /// Before this position the log cannot hold anything more.
    reach: Lsn,
    /// Whether the log used up the segment, rather than stopped in it.
    is_full: bool,
}

impl End {
    /// An end in a segment.
    fn within(segment: &SegmentBytes, offset: u64, at: Lsn) -> Self {
        let rest = segment.from(at);
        let is_full = !message::has_room(at) || matches!(message::read(rest, at), Message::Cap);
        let is_unused = is_full || is_zero(rest);
        let reach = if is_unused { at.next_multiple_of(SEGMENT_BYTES) } else { at };
        Self { at: Some(at), segment: Some(offset), reach, is_full }
    }

    /// The end of a log that has no segments from a position on.
    const fn before(at: Lsn) -> Self {
        Self { at: None, segment: None, reach: at, is_full: true }
    }
}

/// Reads the log from a snapshot on.
pub(super) fn recover(file: &LogFile, old: Snapshot) -> Result<Recovered, BackendError> {
    let headers = file.headers()?;
    let from = old.lsn.unwrap_or_default();
    let min = base(from);
    let ordering: Ordering =
        headers.iter().map(|(offset, header)| (header.lsn, *offset)).filter(|(lsn, _)| *lsn >= min).collect();
    let tail = walk_tail(file, &headers, &ordering, min)?;
    // A segment that is used again is gone for the snapshot, but only when others follow.
    if tail.at.is_none() && old.active.is_some() {
        return Err(damaged(format!("the segment of its log that begins at {min} is missing")));
    }
    let mut replay = Replay {
        pages: old.pages.into_iter().map(Some).collect(),
        pages_max: pages_max(file),
        from,
        skipped: BTreeMap::new(),
    };
    let end = replay.run(file, &ordering, tail.at.and_then(|at| at.checked_sub(1)))?;
    let (lsn, active) = match end.at {
        Some(at) if at % SEGMENT_BYTES + message::HEADER_BYTES_MAX >= SEGMENT_BYTES => {
            (Some(base(at) + SEGMENT_BYTES), None)
        }
        Some(at) => (Some(at), end.segment),
        None => (old.lsn, old.active),
    };
    if lsn < old.lsn {
        return Err(damaged(format!(
            "its log ends at {}, before its snapshot does",
            lsn.unwrap_or_default()
        )));
    }
    let reach = end.reach.max(from);
    if let Some(durable) =
        headers.values().filter_map(Header::durable).max().filter(|durable| reach <= *durable)
    {
        let found = damaged_at(end.at.unwrap_or(from));
        return Err(damaged(format!("{found}, and what follows was durable up to {durable}")));
    }
    let in_doubt = replay.require_used_again(file, end.is_full)?;
    let pages = replay.pages.into_iter().collect::<Option<Vec<_>>>();
    let pages = pages.ok_or_else(|| damaged("a page of its tree is nowhere in its log"))?;
    let snapshot = Snapshot { lsn, active, pages };
    require_segments(&snapshot, &headers)?;
    Ok(Recovered { snapshot, old_lsn: old.lsn, in_doubt })
}

/// Walks along the segments behind everything that was known to be durable when one began, to the first message that
/// is not sound.
fn walk_tail(file: &LogFile, headers: &Headers, ordering: &Ordering, min: Lsn) -> Result<End, BackendError> {
    let stable = headers.values().filter(|header| header.lsn >= min).map(|header| header.stable).max();
    let lowest = base(stable.and_then(|stable| u64::try_from(stable).ok()).unwrap_or_default().max(min));
    let mut end = End::before(lowest);
    let positions = (lowest..).step_by(usize::try_from(SEGMENT_BYTES).unwrap_or(usize::MAX));
    let segments: Vec<_> =
        ordering.range(lowest..).zip(positions).take_while(|((lsn, _), expected)| *lsn == expected).collect();
    let follows = ordering.range(lowest..).nth(segments.len()).is_some();
    let missing = follows.then(|| lowest + segments.len() as u64 * SEGMENT_BYTES);
    for ((lsn, offset), _) in segments {
        let segment = file.segment(*offset)?;
        let (at, stopped) = walk_segment(&segment, *lsn, missing, &mut |_, _, _| Ok(()))?;
        end = End::within(&segment, *offset, at);
        if matches!(stopped, Stop::Damage | Stop::Beyond) {
            break;
        }
    }
    Ok(end)
}

/// Why a walk along a segment stopped.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    /// The segment is used up.
    Full,
    /// What follows is not sound.
    Damage,
    /// What follows lies, or ends, beyond where the log is known to reach.
    Beyond,
}

/// Visits the changes in a segment; returns the position at which that stopped.
pub(super) fn walk_segment(
    segment: &SegmentBytes,
    lsn: Lsn,
    last: Option<Lsn>,
    visit: &mut dyn FnMut(Lsn, &Message<'_>, u64) -> Result<(), BackendError>,
) -> Result<(Lsn, Stop), BackendError> {
    let is_beyond = |at: Lsn| last.is_some_and(|last| at > last);
    let mut at = lsn + HEADER_BYTES;
    while message::has_room(at) {
        if is_beyond(at) {
            return Ok((at, Stop::Beyond));
        }
        let message = message::read(segment.from(at), at);
        match message {
            Message::RecordChange { length, .. } => {
                visit(at, &message, length)?;
                at += length;
            }
            Message::Batch { last, .. } if is_beyond(last) => return Ok((at, Stop::Beyond)),
            Message::Batch { length, .. } | Message::Canceled { length } => at += length,
            Message::Cap => return Ok((at, Stop::Full)),
            Message::Bad => return Ok((at, Stop::Damage)),
            Message::Blob => {
                return Err(damaged(format!("what stands at {at} of its log lies in a file of its own")));
            }
        }
    }
    Ok((at, Stop::Full))
}

/// A page table while changes are applied to it.
struct Replay {
    pages: Vec<Option<PageState>>,
    /// More pages than the file can hold.
    pages_max: u64,
    /// Changes before this position are in the table already.
    from: Lsn,
    /// The segments of which a rest was passed over, by their offset: from where on.
    skipped: BTreeMap<u64, Lsn>,
}

impl Replay {
    /// Applies all changes up to the position `last`, the last of the log.
    fn run(&mut self, file: &LogFile, ordering: &Ordering, last: Option<Lsn>) -> Result<End, BackendError> {
        let mut end = End::before(self.from);
        let Some(last) = last else { return Ok(end) };
        for (lsn, offset) in ordering.range(..=last) {
            let segment = file.segment(*offset)?;
            let (at, stop) = walk_segment(&segment, *lsn, Some(last), &mut |at, message, length| {
                if at < self.from {
                    return Ok(());
                }
                self.apply(message, Part { lsn: at, offset: offset + at % SEGMENT_BYTES, bytes: length })
            })?;
            end = End::within(&segment, *offset, at);
            match stop {
                Stop::Beyond => return Ok(end),
                Stop::Full => end.segment = None,
                Stop::Damage => {
                    end.segment = None;
                    self.skipped.insert(*offset, at);
                }
            }
        }
        Ok(end)
    }

    fn apply(&mut self, message: &Message<'_>, part: Part) -> Result<(), BackendError> {
        let Message::RecordChange { kind, page, .. } = message else { return Ok(()) };
        let index = usize::try_from(*page).unwrap_or(usize::MAX);
        if *page >= self.pages_max {
            return Err(damaged(format!("the message at {} of its log names page {page}", part.lsn)));
        }
        let state = match kind {
            Kind::Replace => PageState::Present { whole: part, links: Vec::new() },
            Kind::Free => PageState::Free { lsn: part.lsn, offset: part.offset },
            Kind::Link => {
                if let Some(Some(PageState::Present { whole, links })) = self.pages.get_mut(index)
                    && links.last().unwrap_or(whole).lsn < part.lsn
                {
                    links.push(part);
                }
                return Ok(());
            }
        };
        if self.pages.len() <= index {
            self.pages.resize(index + 1, None);
        }
        if let Some(page) = self.pages.get_mut(index) {
            *page = Some(state);
        }
        Ok(())
    }

    /// Requires every segment whose rest was passed over to be used again: then nothing in it counts any more, and
    /// whatever is left of it was replaced since.
    ///
    /// The log must have ended with the segment before, or a message of the new use be there. If neither is so, the
    /// segment may still be used again: sled writes several segments at a time, and all that a power cut left of two
    /// such writes may be what it destroyed. Returns where that may be.
    fn require_used_again(
        &self,
        file: &LogFile,
        ended_with_segment: bool,
    ) -> Result<Option<Lsn>, BackendError> {
        let mut in_doubt = None;
        for (offset, at) in &self.skipped {
            let counts = |state: &PageState| state.parts().any(|(_, part)| base(part) == *offset);
            let (mut is_live, mut is_newer) = (self.pages.iter().flatten().any(counts), false);
            let number = number_of(*at);
            Search::from(number).each(file.segment(*offset)?.from(*at), &mut |message| {
                if message.segment > number {
                    is_newer = true;
                } else if message.is_change() {
                    is_live |= !self.is_replaced_since(message.page, *at);
                }
            })?;
            if is_live {
                return Err(damaged_at(*at));
            }
            in_doubt = in_doubt.or((!is_newer && !ended_with_segment).then_some(*at));
        }
        Ok(in_doubt)
    }

    /// Returns `true` if nothing counts that a segment before the one of `at`, or that one, says of a page.
    fn is_replaced_since(&self, page: u64, at: Lsn) -> bool {
        let state = usize::try_from(page).ok().and_then(|page| self.pages.get(page)?.as_ref());
        state.and_then(|state| state.parts().next()).is_some_and(|(lsn, _)| base(lsn) > base(at))
    }
}

/// Says that a message is damaged.
pub(super) fn damaged_at(at: Lsn) -> BackendError {
    damaged(format!("a message at {at} of its log is damaged"))
}

/// Returns a limit on the numbers of pages. Each takes a message, few of which are this short; and numbers come in
/// another order than pages are written.
fn pages_max(file: &LogFile) -> u64 {
    (file.len() / 16).max(1 << 20)
}

/// Requires every part of a page to lie in a segment that begins where the part's position says.
fn require_segments(snapshot: &Snapshot, headers: &Headers) -> Result<(), BackendError> {
    // Neighbors often lie in one segment.
    let mut last = None;
    for (page, state) in snapshot.pages.iter().enumerate() {
        for (lsn, offset) in state.parts() {
            let segment = (base(offset), base(lsn));
            let is_there = last == Some(segment)
                || headers.get(&segment.0).is_some_and(|header| header.lsn == segment.1);
            last = Some(segment);
            if !is_there || lsn % SEGMENT_BYTES != offset % SEGMENT_BYTES {
                return Err(damaged(format!("the segment of its log with page {page} is gone")));
            }
        }
    }
    Ok(())
}
