//! Segments: files of packs, which receive the commits of the heads. Each continues the one before.
//!
//! A pack has the commits of a full head, or a single large commit: a prefix, frames and a trailer. Both ends record what it
//! holds, so it can be found from either end.

use std::borrow::Cow;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use crate::local::backend::BackendError;
use crate::local::files::{self, open_sound, read_at, sync_dir, write_at};
use crate::local::journal::commit::{Checker, Fields, HEADER_BYTES, Point, Salt, header, read_header};

/// A segment that would reach this length ends with its current pack.
const SEGMENT_BYTES: u64 = 16 * 1024 * 1024;

pub(crate) struct Segment {
    pub(crate) path: PathBuf,
    pub(crate) file: File,
    /// The point before its first commit.
    pub(crate) before: Point,
    /// Its last commit.
    pub(crate) end: Point,
    /// The number of commits in the last pack.
    pub(crate) last_count: u32,
    /// Where the last pack begins.
    pub(crate) last_at: u64,
    /// The bytes up to the end of its last sound pack.
    pub(crate) bytes: u64,
    pub(crate) is_full: bool,
}

pub(crate) struct FoundPack {
    pub(crate) front: PackEnd,
    pub(crate) bytes: Vec<u8>,
    pub(crate) trailer: Vec<u8>,
    pub(crate) back: Option<PackEnd>,
}

pub(crate) fn name(first: u64) -> String {
    format!("{first:020}.seg")
}

pub(crate) fn list(journal: &Path) -> io::Result<Vec<(u64, PathBuf)>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(journal)? {
        let path = entry?.path();
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else { continue };
        if let Some(number) = name.strip_suffix(".seg")
            && let Ok(first) = number.parse()
            && name == self::name(first)
        {
            found.push((first, path));
        }
    }
    found.sort();
    Ok(found)
}

pub(crate) fn pack_at(file: &File, packing: &Packing, at: u64) -> io::Result<Option<FoundPack>> {
    let Some(front) = packing.read_front(&read_at(file, at, PREFIX_BYTES)?) else { return Ok(None) };
    let count = usize::try_from(front.frame_bytes).unwrap_or(usize::MAX);
    // A length takes at most 5 bytes.
    let behind = usize::try_from(front.count).unwrap_or(usize::MAX).saturating_mul(5) + FOOTER_BYTES;
    let mut bytes = read_at(file, at + PREFIX_BYTES as u64, count.saturating_add(behind))?;
    let rest = bytes.split_off(count.min(bytes.len()));
    let mut place = 0;
    let mut lengths = 0;
    while lengths < front.count && place < rest.len() {
        lengths += u32::from(rest.get(place).is_some_and(|byte| byte & 0x80 == 0));
        place += 1;
    }
    let trailer = rest.get(..place + FOOTER_BYTES).unwrap_or_default().to_vec();
    let mut back = packing.read_back(&trailer, front.frame_bytes);
    if back.is_some_and(|back| back.first != front.first || back.count != front.count) {
        back = None;
    }
    Ok(Some(FoundPack { front, bytes, trailer, back }))
}

/// Takes the number of a commit, the place of its frame, and its body; `None` if the frame is not sound.
pub(crate) type EachFrame<'a> = &'a mut dyn FnMut(u64, usize, Option<&[u8]>) -> Result<(), BackendError>;

impl FoundPack {
    /// Passes each commit to `each`, and returns `true` if the pack is sound as a whole. It ends early at an unsound frame
    /// whose length is unknown.
    pub(crate) fn each_commit(&self, packing: &Packing, each: EachFrame<'_>) -> Result<bool, BackendError> {
        let mut lengths = Vec::new();
        if self.back.is_some() {
            lengths = Packing::read_lengths(&self.trailer);
        }
        let mut is_whole = self.back.is_some();
        let mut place = 0;
        for (which, number) in (self.front.first..=self.front.last()).enumerate() {
            let Some(bytes) = self.bytes.get(place..) else { break };
            if let Some((body, length)) = packing.read_frame(number, bytes) {
                each(number, place, Some(&body))?;
                place += length;
                continue;
            }
            is_whole = false;
            each(number, place, None)?;
            let Some(length) = lengths.get(which).copied().or_else(|| frame_bytes(bytes)) else { break };
            place += length;
        }
        Ok(is_whole && place == self.bytes.len())
    }
}

impl Segment {
    /// Reads the ends of the segment whose name promises the commit `first`; `None` if either end is unsound.
    pub(crate) fn read(path: &Path, salt: &Salt, first: u64) -> Result<Option<Self>, BackendError> {
        let (file, length) = open_sound(path)?;
        let read = |at, count| BackendError::on(path, "read", read_at(&file, at, count));
        let packing = Packing::new(salt);
        if read_header(&read(0, HEADER_BYTES)?) != Some(*salt) {
            return Ok(None);
        }
        let Some(front) = packing.read_front(&read(HEADER_BYTES as u64, PREFIX_BYTES)?) else {
            return Ok(None);
        };
        let footer_at = length.saturating_sub(FOOTER_BYTES as u64);
        let Some(length_bytes) = Packing::length_bytes(&read(footer_at, FOOTER_BYTES)?) else {
            return Ok(None);
        };
        let trailer_at = footer_at.saturating_sub(u64::from(length_bytes));
        let trailer = read(trailer_at, usize::try_from(length - trailer_at).unwrap_or(usize::MAX))?;
        let mut frame_bytes = 0;
        for length in Packing::read_lengths(&trailer) {
            frame_bytes += length as u64;
        }
        // Only the front of the last pack records the length of all frames, and the back is checked with it.
        let Some(last_at) = trailer_at.checked_sub(PREFIX_BYTES as u64 + frame_bytes) else {
            return Ok(None);
        };
        let Ok(frame_bytes) = u32::try_from(frame_bytes) else { return Ok(None) };
        let Some(back) = packing.read_back(&trailer, frame_bytes) else { return Ok(None) };
        match packing.read_front(&read(last_at, PREFIX_BYTES)?) {
            Some(last) if last.first == back.first && last.count == back.count => {}
            _ => return Ok(None),
        }
        if front.first != first {
            let shown = path.display();
            return Err(BackendError::Damaged(format!("`{shown}` begins with commit {}", front.first)));
        }
        Ok(Some(Self {
            path: path.to_owned(),
            file,
            before: front.point,
            end: back.point,
            last_count: back.count,
            last_at,
            bytes: length,
            is_full: back.is_last,
        }))
    }

    pub(crate) fn ends_whole(&self, salt: &Salt) -> Result<bool, BackendError> {
        let packing = Packing::new(salt);
        match BackendError::on(&self.path, "read", pack_at(&self.file, &packing, self.last_at))? {
            Some(last) => last.each_commit(&packing, &mut |_, _, _| Ok(())),
            None => Ok(false),
        }
    }

    /// Reads a segment with a torn end, up to the last sound pack that begins before `before`; `None` if it has none.
    pub(crate) fn read_torn(path: &Path, salt: &Salt, before: u64) -> Result<Option<Self>, BackendError> {
        let (file, _) = open_sound(path)?;
        let packing = Packing::new(salt);
        if read_header(&BackendError::on(path, "read", read_at(&file, 0, HEADER_BYTES))?) != Some(*salt) {
            return Ok(None);
        }
        let mut at = HEADER_BYTES as u64;
        let mut start = None;
        let mut last = None;
        while at < before
            && let Some(pack) = BackendError::on(path, "read", pack_at(&file, &packing, at))?
            && let Some(back) = pack.back
        {
            at += back.bytes();
            start = start.or(Some(pack.front.point));
            last = Some(back);
        }
        let (Some(start), Some(back)) = (start, last) else { return Ok(None) };
        Ok(Some(Self {
            path: path.to_owned(),
            file,
            before: start,
            end: back.point,
            last_count: back.count,
            last_at: at.saturating_sub(back.bytes()),
            bytes: at,
            is_full: back.is_last,
        }))
    }
}

pub(crate) struct Appending {
    journal: PathBuf,
    salt: Salt,
    packing: Packing,
    /// The last segment; `None` if the next pack begins a new one.
    last: Option<File>,
    path: PathBuf,
    bytes: u64,
    pub(crate) end: Point,
}

impl Appending {
    pub(crate) fn of(journal: &Path, salt: Salt, last: Option<&Segment>) -> Result<Self, BackendError> {
        let mut appending = Self {
            journal: journal.to_owned(),
            salt,
            packing: Packing::new(&salt),
            last: None,
            path: PathBuf::new(),
            bytes: 0,
            end: Point::start(&salt),
        };
        if let Some(Segment { path, end, bytes, is_full, .. }) = last {
            let file = BackendError::on(path, "open", File::options().write(true).open(path))?;
            appending.end = *end;
            if !is_full {
                appending.last = Some(file);
                appending.path.clone_from(path);
                appending.bytes = *bytes;
            }
        }
        Ok(appending)
    }

    /// Appends commits as one pack, durably. Without any it does nothing: a head may hold only notes after a large
    /// commit.
    pub(crate) fn append(&mut self, bodies: &[Vec<u8>]) -> Result<(), BackendError> {
        if bodies.is_empty() {
            return Ok(());
        }
        let is_new = self.last.is_none();
        if is_new {
            self.path = self.journal.join(name(self.end.number + 1));
            self.bytes = 0;
            let created = files::options().write(true).create(true).truncate(true).open(&self.path);
            self.last = Some(BackendError::on(&self.path, "create", created)?);
        }
        let Some(file) = &self.last else { return Ok(()) };
        let before: u64 = bodies.iter().map(|body| body.len() as u64).sum();
        let ends = self.bytes + before >= SEGMENT_BYTES;
        let Some((pack, end)) = self.packing.encode(self.end, bodies, ends) else {
            let source = io::Error::from(io::ErrorKind::FileTooLarge);
            return Err(BackendError::Io { action: "write so large a commit".to_owned(), source });
        };
        let bytes = if is_new { [&header(&self.salt)[..], &pack].concat() } else { pack };
        let at = usize::try_from(self.bytes).unwrap_or(usize::MAX);
        // Cuts off what a torn write left behind the end.
        let written = file.set_len(self.bytes).and_then(|()| write_at(file, at, &bytes));
        if let Err(source) = written {
            // An error is ignored, because half a pack only takes space.
            let _ = file.set_len(self.bytes);
            return BackendError::on(&self.path, "write", Err(source));
        }
        let synced = file.sync_data().and_then(|()| if is_new { sync_dir(&self.journal) } else { Ok(()) });
        BackendError::on_sync(synced)?;
        self.bytes += bytes.len() as u64;
        if ends {
            self.last = None;
        }
        self.end = end;
        Ok(())
    }
}

const MAGIC: &[u8; 4] = b"pack";

const CHECK_BYTES: usize = 16;
const FRAME_CHECK_BYTES: usize = 8;

pub(crate) const PREFIX_BYTES: usize = 4 + 8 + 4 + 4 + 32 + CHECK_BYTES;

pub(crate) const FOOTER_BYTES: usize = 4 + 4 + 8 + 4 + 1 + 32 + CHECK_BYTES;

/// Bodies shorter than this are not worth compressing.
const COMPRESSED_FROM: usize = 256;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PackEnd {
    /// The number of the pack's first commit.
    pub(crate) first: u64,
    pub(crate) count: u32,
    /// The bytes of all frames together.
    pub(crate) frame_bytes: u32,
    /// At the front, the point before the first commit; at the back, the last commit.
    pub(crate) point: Point,
    /// At the back, the bytes of the frame lengths before the footer; 0 at the front.
    pub(crate) length_bytes: u32,
    pub(crate) is_last: bool,
}

impl PackEnd {
    pub(crate) fn last(&self) -> u64 {
        self.first.saturating_add(u64::from(self.count)).saturating_sub(1)
    }

    /// Returns the bytes of the whole pack. Call it on the back, because the front does not have `length_bytes`.
    pub(crate) fn bytes(&self) -> u64 {
        PREFIX_BYTES as u64 + u64::from(self.frame_bytes) + u64::from(self.length_bytes) + FOOTER_BYTES as u64
    }
}

#[derive(Clone)]
pub(crate) struct Packing {
    ends: Checker,
    frames: Checker,
}

impl Packing {
    pub(crate) fn new(salt: &Salt) -> Self {
        Self {
            ends: Checker::new("turnfold v2 pack", salt),
            frames: Checker::new("turnfold v2 packed", salt),
        }
    }

    /// Encodes the commits after `before` as a pack, and returns it with the last commit; `None` if they are too large
    /// for a pack.
    pub(crate) fn encode(
        &self,
        before: Point,
        bodies: &[Vec<u8>],
        is_last: bool,
    ) -> Option<(Vec<u8>, Point)> {
        // Room for the prefix, which is known only after the frames.
        let mut pack = vec![0; PREFIX_BYTES];
        let mut lengths = Vec::new();
        let mut end = before;
        for body in bodies {
            end = end.after(body);
            let mut compressed = None;
            if body.len() >= COMPRESSED_FROM {
                let shorter = lz4_flex::block::compress_prepend_size(body);
                compressed = Some(shorter).filter(|shorter| shorter.len() < body.len());
            }
            let stored = compressed.as_deref().unwrap_or(body);
            let length = u32::try_from(stored.len()).ok()?.checked_mul(2)? | u32::from(compressed.is_some());
            let start = pack.len();
            put_varint(&mut pack, length);
            pack.extend(self.frames.check::<FRAME_CHECK_BYTES>(&[&end.number.to_le_bytes(), stored]));
            pack.extend(stored);
            put_varint(&mut lengths, u32::try_from(pack.len() - start).ok()?);
        }
        let first = before.number + 1;
        let frame_bytes = u32::try_from(pack.len() - PREFIX_BYTES).ok()?;
        let count = u32::try_from(bodies.len()).ok()?;
        let length_bytes = u32::try_from(lengths.len()).ok()?;
        let front = PackEnd { first, count, frame_bytes, point: before, length_bytes: 0, is_last: false };
        let back = PackEnd { first, count, frame_bytes, point: end, length_bytes, is_last };
        pack.splice(..PREFIX_BYTES, self.prefix(&front));
        pack.extend(self.trailer(&back, &lengths));
        Some((pack, end))
    }

    fn prefix(&self, front: &PackEnd) -> Vec<u8> {
        let mut prefix = MAGIC.to_vec();
        prefix.extend(front.first.to_le_bytes());
        prefix.extend(front.count.to_le_bytes());
        prefix.extend(front.frame_bytes.to_le_bytes());
        prefix.extend(front.point.digest.as_bytes());
        let check: [u8; CHECK_BYTES] = self.ends.check(&[b"front", &prefix]);
        prefix.extend(check);
        prefix
    }

    fn trailer(&self, back: &PackEnd, lengths: &[u8]) -> Vec<u8> {
        let mut footer = MAGIC.to_vec();
        footer.extend(back.length_bytes.to_le_bytes());
        footer.extend(back.first.to_le_bytes());
        footer.extend(back.count.to_le_bytes());
        footer.push(u8::from(back.is_last));
        footer.extend(back.point.digest.as_bytes());
        let bytes = back.frame_bytes.to_le_bytes();
        let check: [u8; CHECK_BYTES] = self.ends.check(&[b"back", &bytes, &footer, lengths]);
        [lengths, &footer, &check].concat()
    }

    pub(crate) fn read_front(&self, bytes: &[u8]) -> Option<PackEnd> {
        let prefix = bytes.get(..PREFIX_BYTES)?;
        let mut fields = Fields(prefix);
        let is_magic = fields.take::<4>()? == *MAGIC;
        let first = fields.u64()?;
        let count = fields.u32()?;
        let frame_bytes = fields.u32()?;
        let digest = fields.digest()?;
        let point = Point { number: first.checked_sub(1)?, digest };
        let front = PackEnd { first, count, frame_bytes, point, length_bytes: 0, is_last: false };
        (is_magic && count > 0 && self.prefix(&front) == prefix).then_some(front)
    }

    pub(crate) fn length_bytes(footer: &[u8]) -> Option<u32> {
        let mut fields = Fields(footer);
        (fields.take::<4>()? == *MAGIC).then(|| fields.u32())?
    }

    /// Reads and checks the back of a pack: the frame lengths and the footer behind them. `frame_bytes` is the length
    /// of all frames.
    pub(crate) fn read_back(&self, trailer: &[u8], frame_bytes: u32) -> Option<PackEnd> {
        let split = trailer.len().checked_sub(FOOTER_BYTES)?;
        let (lengths, footer) = trailer.split_at_checked(split)?;
        let mut fields = Fields(footer);
        fields.take::<4>()?;
        let length_bytes = fields.u32()?;
        let first = fields.u64()?;
        let count = fields.u32()?;
        let [is_last] = fields.take()?;
        let digest = fields.digest()?;
        let mut back = PackEnd {
            first,
            count,
            frame_bytes,
            point: Point { number: 0, digest },
            length_bytes,
            is_last: is_last == 1,
        };
        back.point.number = back.last();
        (self.trailer(&back, lengths) == trailer).then_some(back)
    }

    /// Reads the bytes that each frame takes, its own prefix included, from the trailer of a pack. It does not check
    /// the trailer.
    pub(crate) fn read_lengths(trailer: &[u8]) -> Vec<usize> {
        let lengths = trailer.len().saturating_sub(FOOTER_BYTES);
        let mut lengths = trailer.get(..lengths).unwrap_or_default();
        let mut found = Vec::new();
        while let Some(length) = take_varint(&mut lengths) {
            found.push(usize::try_from(length).unwrap_or(usize::MAX));
        }
        found
    }

    /// Reads the commit `number` at the front of `bytes`. Returns its body, and how many bytes its frame takes.
    pub(crate) fn read_frame<'a>(&self, number: u64, bytes: &'a [u8]) -> Option<(Cow<'a, [u8]>, usize)> {
        let mut rest = bytes;
        let length = take_varint(&mut rest)?;
        let mut fields = Fields(rest);
        let found = fields.take::<FRAME_CHECK_BYTES>()?;
        let stored = fields.bytes(usize::try_from(length / 2).ok()?)?;
        if self.frames.check(&[&number.to_le_bytes(), stored]) != found {
            return None;
        }
        let body = unpacked(stored, length % 2 == 1)?;
        Some((body, bytes.len() - fields.0.len()))
    }
}

/// Reads the body of a frame that was found sound before, without checking it again.
pub(crate) fn read_again(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut rest = bytes;
    let length = take_varint(&mut rest)?;
    let stored = rest.get(FRAME_CHECK_BYTES..)?.get(..usize::try_from(length / 2).ok()?)?;
    unpacked(stored, length % 2 == 1).map(Cow::into_owned)
}

pub(crate) fn frame_bytes(bytes: &[u8]) -> Option<usize> {
    let mut rest = bytes;
    let length = usize::try_from(take_varint(&mut rest)? / 2).ok()?;
    Some(bytes.len() - rest.len() + FRAME_CHECK_BYTES + length)
}

fn unpacked(stored: &[u8], is_compressed: bool) -> Option<Cow<'_, [u8]>> {
    if is_compressed {
        lz4_flex::block::decompress_size_prepended(stored).ok().map(Cow::Owned)
    } else {
        Some(Cow::Borrowed(stored))
    }
}

fn put_varint(to: &mut Vec<u8>, mut value: u32) {
    while value >= 0x80 {
        to.push(value.to_le_bytes()[0] | 0x80);
        value >>= 7;
    }
    to.push(value.to_le_bytes()[0]);
}

fn take_varint(from: &mut &[u8]) -> Option<u32> {
    let mut value = 0_u32;
    for place in 0..5 {
        let (byte, rest) = from.split_first()?;
        *from = rest;
        value |= u32::from(byte & 0x7f).checked_shl(7 * place)?;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bodies() -> Vec<Vec<u8>> {
        (0..40_u8).map(|label| [vec![label; usize::from(label) * 20], vec![label, 1, 2]].concat()).collect()
    }

    #[test]
    fn a_pack_reads_back_from_either_end() {
        let salt = [3; 16];
        let (packing, before) = (Packing::new(&salt), Point::start(&salt));
        let bodies = bodies();
        let (pack, end) = packing.encode(before, &bodies, true).unwrap();
        let front = packing.read_front(&pack).unwrap();
        assert_eq!((front.first, front.count, front.point), (1, 40, before));
        let footer = &pack[pack.len() - FOOTER_BYTES..];
        let trailer = Packing::length_bytes(footer).unwrap() as usize + FOOTER_BYTES;
        let trailer = &pack[pack.len() - trailer..];
        let back = packing.read_back(trailer, front.frame_bytes).unwrap();
        assert_eq!((back.point, back.is_last, back.bytes()), (end, true, pack.len() as u64));
        let mut at = PREFIX_BYTES;
        for ((body, number), length) in bodies.iter().zip(1..).zip(Packing::read_lengths(trailer)) {
            let (found, bytes) = packing.read_frame(number, &pack[at..]).unwrap();
            assert_eq!((&*found, bytes), (body.as_slice(), length));
            assert_eq!(read_again(&pack[at..]).as_ref(), Some(body));
            assert_eq!(packing.read_frame(number + 1, &pack[at..]), None);
            at += bytes;
        }
    }

    #[test]
    fn no_flipped_bit_makes_another_pack() {
        let salt = [3; 16];
        let packing = Packing::new(&salt);
        let bodies = bodies()[..3].to_vec();
        let (pack, _) = packing.encode(Point::start(&salt), &bodies, false).unwrap();
        let read = |pack: &[u8]| {
            let front = packing.read_front(pack)?;
            let mut at = PREFIX_BYTES;
            for number in 1..=3 {
                at += packing.read_frame(number, &pack[at..])?.1;
            }
            packing.read_back(&pack[at..], front.frame_bytes)
        };
        assert!(read(&pack).is_some());
        for bit in 0..pack.len() * 8 {
            let mut flipped = pack.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(read(&flipped), None, "bit {bit}");
        }
    }
}
