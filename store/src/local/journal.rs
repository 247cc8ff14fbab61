//! The journal: every commit as a checked frame, in two heads and in segments. It is the truth; the index is built from
//! it.
//!
//! A journal is read strictly, as an [`Image`], or leniently, as [`Remains`], if it is damaged.

pub(crate) mod commit;
pub(crate) mod head;
pub(crate) mod segment;
pub(crate) mod writer;

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::local::backend::BackendError;
use crate::local::files::{open_sound, read_at, read_at_most};
use crate::local::journal::commit::{HEADER_BYTES, Point, Salt, read_header};
use crate::local::journal::head::{HEAD_BYTES, JournalFrame, JournalHead, Kind};
use crate::local::journal::segment::{PREFIX_BYTES, Packing, Segment, pack_at};

/// How often a journal is read again, and with which pauses, while its writer changes it.
const READ_TRIES: u32 = 1000;
const READ_PAUSE: Duration = Duration::from_millis(1);

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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CommitPlace {
    /// Only the heads have it; the number of such commits before it.
    InHeads(u32),
    InSegment {
        /// The number of the segment, from 0.
        segment: u32,
        at: u64,
    },
}

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

pub(crate) fn prove(journal: &Path) -> Result<(), BackendError> {
    read_next_to_writer(journal)?.each_commit(true, &mut |_, _, _| Ok(()))
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
        let current = usize::from(heads[1].turn() >= heads[0].turn());
        let Some(last) = last_frame(&heads, current) else {
            return Err(damaged("no head has a sound beginning"));
        };
        let mut image = Self {
            dir: journal.to_owned(),
            salt,
            segments,
            torn: without_pack,
            packed,
            tail: Vec::new(),
            end: packed,
            current,
            turn: last.turn,
            is_closed: last.kind == Kind::Closed,
            index: last.index,
            heads,
        };
        image.find_tail()?;
        image.require_all()?;
        Ok(image)
    }

    fn find_tail(&mut self) -> Result<(), BackendError> {
        let mut commits = Vec::new();
        for (head, which) in self.heads.iter().zip(0..) {
            for frame in &head.frames {
                if frame.kind == Kind::Commit {
                    commits.push((which, frame));
                }
            }
        }
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
        let mut is_other = false;
        for end in self.heads.iter().filter_map(|head| head.ended_at) {
            for found in [self.packed, self.end] {
                is_other |= found.number == end.number && found != end;
            }
        }
        if let Some(last) = last_frame(&self.heads, self.current)
            && last.kind != Kind::Commit
            && last.before.number == self.end.number
        {
            is_other |= last.before != self.end;
        }
        if is_other {
            return Err(damaged("its heads and its segments belong to different histories"));
        }
        // A large commit is appended to a segment before a head records it.
        let one_more = self.segments.last().is_some_and(|last| last.last_count == 1);
        let packed = self.packed.number;
        if highest + u64::from(one_more) < packed {
            let reason = format!("its heads know of {highest} commits, its segments have {packed}");
            return Err(damaged(reason));
        }
        Ok(())
    }

    pub(crate) fn has_end_mark(&self) -> bool {
        self.heads.get(1 - self.current).is_some_and(|head| head.ended_at == Some(self.end))
    }

    /// Passes every commit to `each`. Frames are always checked, digests of packs only if `proves` (ST-17).
    pub(crate) fn each_commit(&self, proves: bool, each: EachCommit<'_>) -> Result<(), BackendError> {
        for (segment, number) in self.segments.iter().zip(0..) {
            self.each_in_segment(segment, number, proves, each)?;
        }
        for ((_, frame), place) in self.tail.iter().zip(0..) {
            each(frame.end(), CommitPlace::InHeads(place), &frame.body)?;
        }
        Ok(())
    }

    fn each_in_segment(
        &self,
        segment: &Segment,
        number: u32,
        proves: bool,
        each: EachCommit<'_>,
    ) -> Result<(), BackendError> {
        let packing = Packing::new(&self.salt);
        let mut at = HEADER_BYTES as u64;
        let mut end = segment.before;
        while end.number < segment.end.number {
            let pack =
                BackendError::on(&segment.path, "read", segment::pack_at(&segment.file, &packing, at))?;
            let Some(pack) = pack.filter(|pack| pack.front.point == end) else {
                return Err(unreadable(end.number + 1, segment));
            };
            let back = pack.back.ok_or_else(|| unreadable(pack.front.first, segment))?;
            let is_whole = pack.each_commit(&packing, &mut |commit, place, body| {
                let body = body.ok_or_else(|| unreadable(commit, segment))?;
                end = if proves { end.after(body) } else { Point { number: commit, ..end } };
                let at = at + (PREFIX_BYTES + place) as u64;
                each(end, CommitPlace::InSegment { segment: number, at }, body)
            })?;
            if !is_whole {
                return Err(unreadable(end.number + 1, segment));
            }
            if proves && end != back.point {
                return Err(unreadable(pack.front.first, segment));
            }
            at += back.bytes();
            end = back.point;
        }
        Ok(())
    }
}

fn last_frame(heads: &[JournalHead; 2], current: usize) -> Option<&JournalFrame> {
    heads.get(current)?.frames.last()
}

fn unreadable(number: u64, segment: &Segment) -> BackendError {
    damaged(format!("commit {number} is unreadable in `{}`", segment.path.display()))
}

pub(crate) fn damaged(reason: impl Into<String>) -> BackendError {
    BackendError::Damaged(format!("the journal: {}", reason.into()))
}

fn highest(heads: &[JournalHead; 2]) -> u64 {
    heads.iter().map(JournalHead::highest).max().unwrap_or(0)
}

/// Returns `true` unless the last pack of a segment was certainly synced. Heads keep the commits of a pack until it is
/// synced, and record a large commit only after it is.
fn may_be_torn(heads: &[JournalHead; 2], segment: &Segment) -> bool {
    let last = segment.end.number;
    for frame in heads.iter().flat_map(|head| &head.frames) {
        if frame.kind == Kind::Commit && frame.last() == last {
            return true;
        }
    }
    highest(heads) < last
}

/// Reads the ends of all segments. Each must continue the one before. Only the last may be torn (ST-12, ST-13). Returns
/// the last file apart if it has no complete pack.
fn read_segments(
    journal: &Path,
    salt: &Salt,
    heads: &[JournalHead; 2],
) -> Result<(Vec<Segment>, Option<PathBuf>), BackendError> {
    let listed = BackendError::on(journal, "read", segment::list(journal))?;
    let count = listed.len();
    let mut segments: Vec<Segment> = Vec::new();
    let mut torn = None;
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

const SEARCH_BYTES: usize = 1 << 20;

/// What is left of a damaged journal: every commit with a sound frame, wherever it lies (ST-4).
pub(crate) struct Remains {
    pub(crate) salt: Salt,
    /// The commits in the heads by number. Segments may have some of them too.
    heads: BTreeMap<u64, JournalFrame>,
    segments: Vec<(u64, PathBuf)>,
    /// The highest commit number in the frames and end marks of the heads.
    named: u64,
    /// The number of the commit that is due.
    next: u64,
    /// How many commits were passed that only the heads have.
    in_heads: u32,
    /// What is wrong with the rest, for the report.
    pub(crate) notes: Vec<String>,
}

impl Remains {
    /// Finds what is left; `None` if no file has a sound header, so that the salt is lost.
    pub(crate) fn find(journal: &Path) -> Option<Self> {
        let mut notes = Vec::new();
        let mut found = Vec::new();
        for name in head::NAMES {
            let path = journal.join(name);
            if let Err(error) = head::read_bytes(&path) {
                notes.push(error.to_string());
            }
            let mut bytes = read_at_most(&path, HEAD_BYTES as u64).unwrap_or_default();
            bytes.resize(HEAD_BYTES, 0);
            found.push((name, bytes));
        }
        let segments = segment::list(journal).unwrap_or_default();
        let mut salt = None;
        for (_, bytes) in &found {
            salt = salt.or_else(|| read_header(bytes));
        }
        for (_, path) in &segments {
            salt = salt.or_else(|| read_header(&read_at_most(path, HEADER_BYTES as u64).ok()?));
        }
        let salt = salt?;
        let mut remains =
            Self { salt, heads: BTreeMap::new(), segments, named: 0, next: 1, in_heads: 0, notes };
        for (name, bytes) in found {
            if read_header(&bytes) != Some(salt) && !remains.notes.iter().any(|note| note.contains(name)) {
                let path = journal.join(name);
                remains.notes.push(format!("`{}` does not begin as a head does", path.display()));
            }
            remains.add_head(JournalHead::of(salt, bytes));
        }
        Some(remains)
    }

    fn add_head(&mut self, head: JournalHead) {
        self.named = self.named.max(head.highest());
        for frame in head.frames.into_iter().chain(head.strays) {
            if frame.kind != Kind::Commit {
                continue;
            }
            let known = self.heads.get(&frame.last());
            if known.is_none_or(|known| known.turn < frame.turn) {
                self.heads.insert(frame.last(), frame);
            }
        }
    }

    pub(crate) fn files(&self) -> Vec<File> {
        let mut files = Vec::new();
        for (_, path) in &self.segments {
            files.extend(open_sound(path).ok().map(|(file, _)| file));
        }
        files
    }

    /// Passes every sound commit to `each` in the order of the numbers, and notes the missing ones.
    pub(crate) fn each_commit(&mut self, each: EachCommit<'_>) -> Result<(), BackendError> {
        let mut number = 0;
        for (first, path) in self.segments.clone() {
            let opened = open_sound(&path);
            if let Err(error) = &opened {
                self.notes.push(error.to_string());
            }
            if first > self.next {
                self.fill_up_to(first, each)?;
            }
            if let Ok((file, _)) = opened {
                self.each_in_segment(&path, &file, number, each)?;
                number += 1;
            }
        }
        let packed = self.next - 1;
        if let Some(last) = self.heads.keys().next_back().copied()
            && last >= self.next
        {
            self.fill_up_to(last + 1, each)?;
        }
        let named = self.named;
        if named >= self.next {
            self.note_missing(self.next, named);
        }
        if named + 1 < packed {
            self.notes.push(format!("its heads know of {named} commits, its segments have {packed}"));
        }
        Ok(())
    }

    fn each_in_segment(
        &mut self,
        path: &Path,
        file: &File,
        segment: u32,
        each: EachCommit<'_>,
    ) -> Result<(), BackendError> {
        let packing = Packing::new(&self.salt);
        let shown = path.display();
        let header = BackendError::on(path, "read", read_at(file, 0, HEADER_BYTES))?;
        if read_header(&header) != Some(self.salt) {
            self.notes.push(format!("`{shown}` does not begin as a segment of this journal does"));
        }
        let mut at = HEADER_BYTES as u64;
        loop {
            let Some(pack) = BackendError::on(path, "read", pack_at(file, &packing, at))? else {
                let Some(found) = BackendError::on(path, "read", find_pack(file, &packing, at))? else {
                    return Ok(());
                };
                self.notes.push(format!("{} bytes of `{shown}` are unreadable", found - at));
                at = found;
                continue;
            };
            if pack.front.first > self.next {
                self.fill_up_to(pack.front.first, each)?;
            }
            pack.each_commit(&packing, &mut |commit, place, body| {
                let Some(body) = body else { return Ok(()) };
                let at = at + (PREFIX_BYTES + place) as u64;
                self.pass(commit, CommitPlace::InSegment { segment, at }, body, each)
            })?;
            at += (PREFIX_BYTES + pack.bytes.len() + pack.trailer.len()) as u64;
            if pack.back.is_none() && BackendError::on(path, "read", find_pack(file, &packing, at))?.is_some()
            {
                self.notes.push(format!("the end of a pack in `{shown}` is unreadable"));
            }
        }
    }

    /// Passes a commit to `each`, after the earlier ones that only the heads have. Ignores a commit that came before.
    fn pass(
        &mut self,
        number: u64,
        at: CommitPlace,
        body: &[u8],
        each: EachCommit<'_>,
    ) -> Result<(), BackendError> {
        if number < self.next {
            return Ok(());
        }
        self.fill_up_to(number, each)?;
        self.next = number + 1;
        each(point(number), at, body)
    }

    /// Passes the commits before `number`, which must not be before the one that is due, as far as the heads have them.
    fn fill_up_to(&mut self, number: u64, each: EachCommit<'_>) -> Result<(), BackendError> {
        while let Some(waiting) = self.heads.first_entry()
            && *waiting.key() < number
        {
            let (found, frame) = waiting.remove_entry();
            if found < self.next {
                continue;
            }
            self.note_missing(self.next, found - 1);
            self.next = found + 1;
            each(point(found), CommitPlace::InHeads(self.in_heads), &frame.body)?;
            self.in_heads += 1;
        }
        self.note_missing(self.next, number - 1);
        self.next = number;
        Ok(())
    }

    fn note_missing(&mut self, from: u64, to: u64) {
        if from < to {
            self.notes.push(format!("commits {from} to {to} are missing or unreadable"));
        } else if from == to {
            self.notes.push(format!("commit {from} is missing or unreadable"));
        }
    }

    pub(crate) fn names_a_commit(&self) -> bool {
        self.named > 0 || !self.segments.is_empty()
    }
}

fn point(number: u64) -> Point {
    Point { number, ..Point::start(&[0; 16]) }
}

fn find_pack(file: &File, packing: &Packing, from: u64) -> std::io::Result<Option<u64>> {
    let mut at = from;
    loop {
        let bytes = read_at(file, at, SEARCH_BYTES + PREFIX_BYTES)?;
        for place in 0..bytes.len().min(SEARCH_BYTES) {
            let rest = bytes.get(place..).unwrap_or_default();
            if rest.starts_with(b"pack") && packing.read_front(rest).is_some() {
                return Ok(Some(at + place as u64));
            }
        }
        if bytes.len() <= SEARCH_BYTES {
            return Ok(None);
        }
        at += SEARCH_BYTES as u64;
    }
}
