//! The contents of a journal: its heads in full, its segments by their ends, and every commit in order.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::commit::{HEADER_BYTES, Point, Salt};
use super::frame::{JournalFrame, Kind};
use super::head::{self, JournalHead};
use super::pack::{PREFIX_BYTES, Packing};
use super::segment::{self, FoundPack, Segment};
use crate::local::backend::BackendError;

/// How often a journal is read again, and with which pauses, while its writer changes it.
const READ_TRIES: u32 = 1000;
const READ_PAUSE: Duration = Duration::from_millis(1);

/// The contents of a journal.
pub(crate) struct Image {
    pub(crate) dir: PathBuf,
    pub(crate) salt: Salt,
    pub(crate) heads: [JournalHead; 2],
    pub(crate) segments: Vec<Segment>,
    /// A last segment file without a complete pack.
    pub(crate) torn: Option<PathBuf>,
    /// The last commit in the segments.
    pub(crate) packed: Point,
    /// The commits behind it, each with the number of its head, 0 or 1.
    pub(crate) tail: Vec<(usize, JournalFrame)>,
    /// The last commit of the journal.
    pub(crate) end: Point,
    /// The number of the head that takes the next frame.
    pub(crate) current: usize,
    pub(crate) turn: u64,
    /// Whether the store was closed, as the last frame records.
    pub(crate) is_closed: bool,
    /// The index that has not been written to since it was synced; 0 for none.
    pub(crate) index: u32,
}

/// Where a commit can be read again: in a segment, or among the commits that only the heads have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CommitPlace(u64);

/// How far the number of the segment is shifted in [`CommitPlace`]; the bits below are the place in the segment.
const SEGMENT_SHIFT: u32 = 44;

impl CommitPlace {
    /// The bit that marks a place among the commits that only the heads have.
    const IN_HEADS: u64 = 1 << 63;

    pub(crate) fn in_segment(segment: usize, at: u64) -> Self {
        Self((segment as u64) << SEGMENT_SHIFT | at)
    }

    pub(crate) fn in_heads(place: usize) -> Self {
        Self(place as u64 | Self::IN_HEADS)
    }

    /// Returns `Ok` with the place among the commits of the heads, or `Err` with the segment and the place in it.
    pub(crate) fn place(self) -> Result<usize, (usize, u64)> {
        let number = |value: u64| usize::try_from(value).unwrap_or(usize::MAX);
        if self.0 & Self::IN_HEADS != 0 {
            Ok(number(self.0 ^ Self::IN_HEADS))
        } else {
            Err((number(self.0 >> SEGMENT_SHIFT), self.0 & ((1 << SEGMENT_SHIFT) - 1)))
        }
    }
}

/// Called for each commit with its point, its place and its body.
pub(crate) type EachCommit<'a> = &'a mut dyn FnMut(Point, CommitPlace, &[u8]) -> Result<(), BackendError>;

/// Reads the contents of a journal while its writer may go on (ST-16). It returns an error only if both heads stayed
/// the same between two tries, because otherwise the writer may have caused it.
pub(crate) fn read_next_to_writer(journal: &Path) -> Result<Image, BackendError> {
    let mut before: Option<[Vec<u8>; 2]> = None;
    let mut tries = 1;
    loop {
        let heads = head::NAMES.map(|name| head::read_bytes(&journal.join(name)));
        let error = match Image::read(journal) {
            Ok(image) => return Ok(image),
            Err(error) => error,
        };
        let [Ok(first), Ok(second)] = heads else { return Err(error) };
        let now = [first, second];
        if before.as_ref() == Some(&now) || tries >= READ_TRIES {
            return Err(error);
        }
        before = Some(now);
        tries += 1;
        std::thread::sleep(READ_PAUSE);
    }
}

/// Reads every commit of a journal while its writer may go on, and checks the digests.
pub(crate) fn prove(journal: &Path) -> Result<(), BackendError> {
    read_next_to_writer(journal)?.each_commit(0, true, &mut |_, _, _| Ok(()))
}

impl Image {
    /// Reads the contents of a journal: the heads first, then the ends of the segments (ST-15).
    pub(crate) fn read(journal: &Path) -> Result<Self, BackendError> {
        let [first, second] = head::NAMES.map(|name| JournalHead::read(&journal.join(name)));
        let heads = [first?, second?];
        let salt = heads[0].salt;
        if heads[1].salt != salt {
            return Err(damaged("its two heads belong to different journals"));
        }
        let (segments, without_pack) = read_segments(journal, &salt, &heads)?;
        let packed = segments.last().map_or_else(|| Point::start(&salt), |last| last.end);
        let last = heads.iter().enumerate().max_by_key(|(_, head)| head.turn());
        let Some((current, Some(last))) = last.map(|(which, head)| (which, head.frames.last())) else {
            return Err(damaged("no head has a sound beginning"));
        };
        let turn = last.turn;
        let index = last.index;
        let is_closed = last.kind == Kind::Closed;
        let mut image = Self {
            dir: journal.to_owned(),
            salt,
            heads,
            segments,
            torn: without_pack,
            packed,
            tail: Vec::new(),
            end: packed,
            current,
            turn,
            is_closed,
            index,
        };
        image.find_tail()?;
        image.require_all()?;
        Ok(image)
    }

    /// Finds the commits that only the heads have.
    fn find_tail(&mut self) -> Result<(), BackendError> {
        let frames = self.heads.iter().enumerate();
        let frames = frames.flat_map(|(which, head)| head.frames.iter().map(move |frame| (which, frame)));
        let mut commits: Vec<_> = frames.filter(|(_, frame)| frame.kind == Kind::Commit).collect();
        commits.sort_by_key(|(_, frame)| frame.turn);
        for (which, frame) in commits {
            let end = frame.end();
            if end.number < self.packed.number {
                continue;
            }
            if end.number == self.packed.number {
                if end != self.packed {
                    return Err(damaged("its heads and its segments belong to different histories"));
                }
                continue;
            }
            if frame.before != self.end {
                return Err(damaged(format!("commit {} is missing or unreadable", self.end.number + 1)));
            }
            self.end = end;
            self.tail.push((which, frame.clone()));
        }
        Ok(())
    }

    /// Requires that no head names a commit that is missing, and that all digests agree (ST-11).
    fn require_all(&self) -> Result<(), BackendError> {
        let highest = highest(&self.heads);
        if highest > self.end.number {
            return Err(damaged(format!("commit {} is missing or unreadable", self.end.number + 1)));
        }
        let ends = self.heads.iter().filter_map(|head| head.ended_at);
        let is_other = |end: Point| {
            [self.packed, self.end].iter().any(|found| found.number == end.number && *found != end)
        };
        if ends.into_iter().any(is_other) {
            return Err(damaged("its heads and its segments belong to different histories"));
        }
        let last = self.heads.get(self.current).and_then(|head| head.frames.last());
        if last.is_some_and(|last| {
            last.kind != Kind::Commit && last.last() == self.end.number && last.before != self.end
        }) {
            return Err(damaged("its heads and its segments belong to different histories"));
        }
        // A large commit is appended to a segment before a head records it.
        let one_more = self.segments.last().is_some_and(|last| last.last_count == 1);
        let counted = highest + u64::from(one_more);
        if counted < self.packed.number {
            return Err(damaged(format!(
                "its heads know of {highest} commits, its segments have {}",
                self.packed.number
            )));
        }
        Ok(())
    }

    /// Returns `true` if the other head, which is not being written to, has the end mark of this end.
    pub(crate) fn has_end_mark(&self) -> bool {
        let other = self.heads.get(1 - self.current);
        other.is_some_and(|head| head.ended_at == Some(self.end))
    }

    /// Passes every commit after number `from` to `each`. Frames are always checked, digests of packs only if `proves`
    /// (ST-17).
    pub(crate) fn each_commit(
        &self,
        from: u64,
        proves: bool,
        each: EachCommit<'_>,
    ) -> Result<(), BackendError> {
        for (number, segment) in self.segments.iter().enumerate() {
            if segment.end.number > from {
                self.each_in_segment((number, segment), from, proves, each)?;
            }
        }
        for (place, (_, frame)) in self.tail.iter().enumerate() {
            if frame.last() > from {
                each(frame.end(), CommitPlace::in_heads(place), &frame.body)?;
            }
        }
        Ok(())
    }

    fn each_in_segment(
        &self,
        (number, segment): (usize, &Segment),
        from: u64,
        proves: bool,
        each: EachCommit<'_>,
    ) -> Result<(), BackendError> {
        let packing = Packing::new(&self.salt);
        let mut at = HEADER_BYTES as u64;
        let mut end = segment.before;
        while end.number < segment.end.number {
            let pack = segment::pack_at(&segment.file, &packing, at);
            let pack = pack.map_err(|source| BackendError::io("read", &segment.path, source))?;
            let Some(pack) = pack.filter(|pack| pack.front.point == end) else {
                return Err(unreadable(end.number + 1, segment));
            };
            let back = pack.back.ok_or_else(|| unreadable(pack.front.first, segment))?;
            if back.point.number > from {
                let after = each_in_pack((number, segment), &pack, &packing, proves, from, each)?;
                if proves && after != back.point {
                    return Err(unreadable(pack.front.first, segment));
                }
            }
            at += back.bytes();
            end = back.point;
        }
        Ok(())
    }
}

/// Passes the commits of a pack to `each` and returns the last; its digest is right only if `proves`.
fn each_in_pack(
    (number, segment): (usize, &Segment),
    pack: &FoundPack,
    packing: &Packing,
    proves: bool,
    from: u64,
    each: EachCommit<'_>,
) -> Result<Point, BackendError> {
    let mut place = 0;
    let mut end = pack.front.point;
    for _ in 0..pack.front.count {
        let frame = pack.bytes.get(place..).and_then(|bytes| packing.read_frame(end.number + 1, bytes));
        let Some((body, bytes)) = frame else { return Err(unreadable(end.number + 1, segment)) };
        end = if proves { end.after(&body) } else { Point { number: end.number + 1, ..end } };
        if end.number > from {
            each(end, CommitPlace::in_segment(number, pack.at + (PREFIX_BYTES + place) as u64), &body)?;
        }
        place += bytes;
    }
    if place == pack.bytes.len() { Ok(end) } else { Err(unreadable(end.number + 1, segment)) }
}

fn unreadable(number: u64, segment: &Segment) -> BackendError {
    damaged(format!("commit {number} is unreadable in `{}`", segment.path.display()))
}

pub(crate) fn damaged(reason: impl Into<String>) -> BackendError {
    BackendError::Damaged(format!("the journal: {}", reason.into()))
}

/// Returns the highest commit number that the heads name.
fn highest(heads: &[JournalHead; 2]) -> u64 {
    heads.iter().map(JournalHead::highest).max().unwrap_or(0)
}

/// Returns `true` unless the last pack of a segment was certainly synced. Heads keep the commits of a pack until it is
/// synced, and record a large commit only after it is.
fn may_be_torn(heads: &[JournalHead; 2], segment: &Segment) -> bool {
    let last = segment.end.number;
    let mut frames = heads.iter().flat_map(|head| &head.frames);
    highest(heads) < last || frames.any(|frame| frame.kind == Kind::Commit && frame.last() == last)
}

/// Reads the ends of all segments. Each must continue the one before. Only the last may be torn (ST-12, ST-13). Returns
/// the last file apart if it has no complete pack.
fn read_segments(
    journal: &Path,
    salt: &Salt,
    heads: &[JournalHead; 2],
) -> Result<(Vec<Segment>, Option<PathBuf>), BackendError> {
    let listed = segment::list(journal).map_err(|source| BackendError::io("read", journal, source))?;
    let count = listed.len();
    let (mut segments, mut torn): (Vec<Segment>, _) = (Vec::new(), None);
    for (number, (first, path)) in listed.into_iter().enumerate() {
        let is_last = number + 1 == count;
        let found = match Segment::read(&path, salt, first)? {
            None if is_last => Segment::read_torn(&path, salt, u64::MAX)?,
            Some(found) if is_last && may_be_torn(heads, &found) && !found.ends_whole(salt)? => {
                Segment::read_torn(&path, salt, found.last_at)?
            }
            found => found,
        };
        let before = segments.last().map_or_else(|| Point::start(salt), |last| last.end);
        match found {
            Some(found) if found.before == before => segments.push(found),
            Some(_) => {
                return Err(damaged(format!("`{}` does not continue what is before it", path.display())));
            }
            None if is_last => torn = Some(path),
            None => return Err(damaged(format!("`{}` does not end as a segment does", path.display()))),
        }
    }
    Ok((segments, torn))
}
