//! Reads a damaged journal: every commit with a sound frame, wherever it lies, and what is wrong with the rest (ST-4).

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

use super::commit::{HEADER_BYTES, Point, Salt, read_header};
use super::frame::{JournalFrame, Kind};
use super::head::{self, HEAD_BYTES, JournalHead};
use super::image::{CommitPlace, EachCommit};
use super::pack::{self, PREFIX_BYTES, Packing};
use super::segment::{self, pack_at};
use crate::local::backend::BackendError;
use crate::local::dir::files::{open_sound, read_at, read_at_most};

/// How many bytes are searched at a time for the next pack.
const SEARCH_BYTES: usize = 1 << 20;

/// What is left of a journal.
pub(crate) struct Remains {
    pub(crate) salt: Salt,
    /// The commits in the heads by number. Segments may have some of them too.
    heads: BTreeMap<u64, JournalFrame>,
    segments: Vec<(u64, PathBuf)>,
    /// The highest commit number in the frames and end marks of the heads.
    named: u64,
    /// What is wrong with the journal's files, for the report.
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
        let salts = found.iter().map(|(_, bytes)| read_header(bytes));
        let in_segments =
            segments.iter().map(|(_, path)| read_header(&read_at_most(path, HEADER_BYTES as u64).ok()?));
        let salt = salts.chain(in_segments).flatten().next()?;
        let mut remains = Self { salt, heads: BTreeMap::new(), segments, named: 0, notes };
        for (name, bytes) in found {
            if read_header(&bytes) != Some(salt) && !remains.notes.iter().any(|note| note.contains(name)) {
                remains
                    .notes
                    .push(format!("`{}` does not begin as a head does", journal.join(name).display()));
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

    /// Opens the segments. It omits segments that cannot be opened.
    pub(crate) fn files(&self) -> Vec<File> {
        self.segments.iter().filter_map(|(_, path)| open_sound(path).ok().map(|(file, _)| file)).collect()
    }

    /// Passes every sound commit to `each` in the order of the numbers, and notes the missing ones.
    pub(crate) fn each_commit(&mut self, each: EachCommit<'_>) -> Result<(), BackendError> {
        let heads = std::mem::take(&mut self.heads);
        let mut next = Next { number: 1, heads, notes: Vec::new() };
        let mut number = 0;
        for (first, path) in self.segments.clone() {
            let opened = match open_sound(&path) {
                Ok((file, _)) => Some(file),
                Err(error) => {
                    next.notes.push(error.to_string());
                    None
                }
            };
            if first > next.number {
                next.fill_up_to(first, each)?;
            }
            if let Some(file) = opened {
                self.each_in_segment((number, &path, &file), &mut next, each)?;
                number += 1;
            }
        }
        let packed = next.number - 1;
        let end = next.heads.keys().next_back().map_or(next.number, |last| last + 1);
        next.fill_up_to(end.max(next.number), each)?;
        if self.named >= next.number {
            next.notes.push(missing(next.number, self.named));
        }
        if self.named + 1 < packed {
            let named = self.named;
            next.notes.push(format!("its heads know of {named} commits, its segments have {packed}"));
        }
        self.notes.extend(next.notes);
        Ok(())
    }

    fn each_in_segment(
        &self,
        (number, path, file): (usize, &Path, &File),
        next: &mut Next,
        each: EachCommit<'_>,
    ) -> Result<(), BackendError> {
        let packing = Packing::new(&self.salt);
        let failed = |source| BackendError::io("read", path, source);
        let header = read_at(file, 0, HEADER_BYTES).map_err(failed)?;
        if read_header(&header) != Some(self.salt) {
            next.notes.push(format!("`{}` does not begin as a segment of this journal does", path.display()));
        }
        let mut at = HEADER_BYTES as u64;
        loop {
            let Some(pack) = pack_at(file, &packing, at).map_err(failed)? else {
                let found = find_pack(file, &packing, at).map_err(failed)?;
                let Some(found) = found else { break };
                next.notes.push(format!("{} bytes of `{}` are unreadable", found - at, path.display()));
                at = found;
                continue;
            };
            if pack.front.first > next.number {
                next.fill_up_to(pack.front.first, each)?;
            }
            let lengths = if pack.back.is_some() { Packing::read_lengths(&pack.trailer) } else { Vec::new() };
            let mut place = 0;
            for (which, commit) in (pack.front.first..=pack.front.last()).enumerate() {
                let Some(bytes) = pack.bytes.get(place..) else { break };
                let length = match packing.read_frame(commit, bytes) {
                    Some((body, length)) => {
                        let at = CommitPlace::in_segment(number, at + (PREFIX_BYTES + place) as u64);
                        next.take(commit, at, &body, each)?;
                        Some(length)
                    }
                    None => lengths.get(which).copied().or_else(|| pack::frame_bytes(bytes)),
                };
                let Some(length) = length.or_else(|| lengths.get(which).copied()) else { break };
                place += length;
            }
            at += PREFIX_BYTES as u64 + pack.bytes.len() as u64 + pack.trailer.len() as u64;
            if pack.back.is_none() && find_pack(file, &packing, at).map_err(failed)?.is_some() {
                next.notes.push(format!("the end of a pack in `{}` is unreadable", path.display()));
            }
        }
        Ok(())
    }

    /// Returns `true` if a head names a commit or there is a segment.
    pub(crate) fn names_a_commit(&self) -> bool {
        self.named > 0 || !self.segments.is_empty()
    }
}

/// The number of the commit that is due, and the commits of the heads to fill gaps with.
struct Next {
    number: u64,
    heads: BTreeMap<u64, JournalFrame>,
    notes: Vec<String>,
}

impl Next {
    /// Passes a commit to `each`, after the earlier ones that only the heads have. Ignores a commit that came before.
    fn take(
        &mut self,
        number: u64,
        at: CommitPlace,
        body: &[u8],
        each: EachCommit<'_>,
    ) -> Result<(), BackendError> {
        if number < self.number {
            return Ok(());
        }
        self.fill_up_to(number, each)?;
        self.number = number + 1;
        each(point(number), at, body)
    }

    /// Passes the commits before `number` that only the heads have to `each`, and notes the missing ones.
    fn fill_up_to(&mut self, number: u64, each: EachCommit<'_>) -> Result<(), BackendError> {
        let mut gap = self.number;
        let waiting: Vec<_> = self.heads.range(self.number..number).map(|(_, frame)| frame.clone()).collect();
        for frame in waiting {
            let found = frame.last();
            if found > gap {
                self.notes.push(missing(gap, found - 1));
            }
            each(point(found), CommitPlace::in_heads(0), &frame.body)?;
            gap = found + 1;
        }
        if number > gap {
            self.notes.push(missing(gap, number - 1));
        }
        self.number = number.max(self.number);
        Ok(())
    }
}

/// Returns the point of a commit whose digest is unknown; the digest means nothing.
fn point(number: u64) -> Point {
    Point { number, ..Point::start(&[0; 16]) }
}

fn missing(from: u64, to: u64) -> String {
    if from == to {
        format!("commit {from} is missing or unreadable")
    } else {
        format!("commits {from} to {to} are missing or unreadable")
    }
}

/// Finds the next sound front of a pack at or after a place.
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
