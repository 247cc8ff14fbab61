//! Segments: files of packs, which receive the commits of the heads. Each continues the one before.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use super::commit::{HEADER_BYTES, Point, Salt, header, read_header};
use super::pack::{FOOTER_BYTES, PREFIX_BYTES, PackEnd, Packing};
use crate::local::backend::BackendError;
use crate::local::dir::files::{self, open_sound, read_at, sync_dir, write_at};

/// A segment that would reach this length ends with its current pack.
const SEGMENT_BYTES: u64 = 16 * 1024 * 1024;

/// A segment, as its two ends describe it.
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

/// A pack as it was read. `back` is `None` if it is unsound.
pub(crate) struct FoundPack {
    pub(crate) at: u64,
    pub(crate) front: PackEnd,
    pub(crate) bytes: Vec<u8>,
    pub(crate) trailer: Vec<u8>,
    pub(crate) back: Option<PackEnd>,
}

/// Returns the file name of the segment whose first commit is `first`.
pub(crate) fn name(first: u64) -> String {
    format!("{first:020}.seg")
}

/// Lists the segments in a journal's folder, in the order of their first commits.
pub(crate) fn list(journal: &Path) -> io::Result<Vec<(u64, PathBuf)>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(journal)? {
        let path = entry?.path();
        let first = path.file_name().and_then(|name| name.to_str()?.strip_suffix(".seg")?.parse().ok());
        found.extend(first.filter(|first| path.ends_with(name(*first))).map(|first| (first, path)));
    }
    found.sort();
    Ok(found)
}

/// Reads the pack at a place of a segment; `None` if there is no sound front.
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
    let back = packing.read_back(&trailer, front.frame_bytes);
    let back = back.filter(|back| (back.first, back.count) == (front.first, front.count));
    Ok(Some(FoundPack { at, front, bytes, trailer, back }))
}

impl FoundPack {
    /// Returns `true` if every frame is sound, not only both ends.
    fn is_whole(&self, packing: &Packing) -> bool {
        let mut at = 0;
        let mut number = self.front.first;
        while let Some((_, bytes)) = self.bytes.get(at..).and_then(|rest| packing.read_frame(number, rest)) {
            at += bytes;
            number += 1;
        }
        at == self.bytes.len() && self.back.is_some_and(|back| number == back.last() + 1)
    }
}

impl Segment {
    /// Reads the ends of the segment whose name promises the commit `first`; `None` if either end is unsound.
    pub(crate) fn read(path: &Path, salt: &Salt, first: u64) -> Result<Option<Self>, BackendError> {
        let (file, length) = open_sound(path)?;
        let read =
            |at, count| read_at(&file, at, count).map_err(|source| BackendError::io("read", path, source));
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
        // Only the front records the length of all frames, and the back is checked with it.
        let Some(back) = Self::find_back(&file, &packing, (&trailer, trailer_at), path)? else {
            return Ok(None);
        };
        if front.first != first {
            return Err(BackendError::Damaged(format!(
                "`{}` begins with commit {}",
                path.display(),
                front.first
            )));
        }
        Ok(Some(Self {
            path: path.to_owned(),
            file,
            before: front.point,
            end: back.point,
            last_count: back.count,
            last_at: length.saturating_sub(back.bytes()),
            bytes: length,
            is_full: back.is_last,
        }))
    }

    fn find_back(
        file: &File,
        packing: &Packing,
        (trailer, trailer_at): (&[u8], u64),
        path: &Path,
    ) -> Result<Option<PackEnd>, BackendError> {
        let bytes: u64 = Packing::read_lengths(trailer).iter().map(|length| *length as u64).sum();
        let Ok(frame_bytes) = u32::try_from(bytes) else { return Ok(None) };
        let Some(back) = packing.read_back(trailer, frame_bytes) else { return Ok(None) };
        let Some(at) = trailer_at.checked_sub(PREFIX_BYTES as u64 + bytes) else { return Ok(None) };
        let prefix =
            read_at(file, at, PREFIX_BYTES).map_err(|source| BackendError::io("read", path, source))?;
        let front = packing.read_front(&prefix);
        Ok(front.filter(|front| (front.first, front.count) == (back.first, back.count)).map(|_| back))
    }

    /// Returns `true` if all frames of the last pack are sound, not only its ends.
    pub(crate) fn ends_whole(&self, salt: &Salt) -> Result<bool, BackendError> {
        let packing = Packing::new(salt);
        let last = pack_at(&self.file, &packing, self.last_at);
        let last = last.map_err(|source| BackendError::io("read", &self.path, source))?;
        Ok(last.is_some_and(|last| last.is_whole(&packing)))
    }

    /// Reads a segment with a torn end, up to the last sound pack that begins before `before`; `None` if it has none.
    pub(crate) fn read_torn(path: &Path, salt: &Salt, before: u64) -> Result<Option<Self>, BackendError> {
        let (file, _) = open_sound(path)?;
        let failed = |source| BackendError::io("read", path, source);
        let packing = Packing::new(salt);
        if read_header(&read_at(&file, 0, HEADER_BYTES).map_err(failed)?) != Some(*salt) {
            return Ok(None);
        }
        let mut at = HEADER_BYTES as u64;
        let mut found = None;
        while at < before
            && let Some(pack) = pack_at(&file, &packing, at).map_err(failed)?
            && let Some(back) = pack.back
        {
            at += back.bytes();
            let start = found.map_or(pack.front.point, |(start, _): (Point, PackEnd)| start);
            found = Some((start, back));
        }
        Ok(found.map(|(start, back)| Self {
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

/// The segment that is being appended to.
pub(crate) struct Appending {
    journal: PathBuf,
    salt: Salt,
    packing: Packing,
    /// The last segment: its file, path and length, and whether it is full; `None` if the journal has no segment.
    last: Option<(File, PathBuf, u64, bool)>,
    pub(crate) end: Point,
}

impl Appending {
    /// Continues behind the last segment of a journal.
    pub(crate) fn of(journal: &Path, salt: Salt, last: Option<&Segment>) -> Result<Self, BackendError> {
        let end = last.map_or_else(|| Point::start(&salt), |last| last.end);
        let last = last.map(|last| {
            let file = File::options().write(true).open(&last.path);
            let file = file.map_err(|source| BackendError::io("open", &last.path, source))?;
            Ok((file, last.path.clone(), last.bytes, last.is_full))
        });
        let packing = Packing::new(&salt);
        Ok(Self { journal: journal.to_owned(), salt, packing, last: last.transpose()?, end })
    }

    /// Appends commits as one pack, durably. Without any it does nothing: a head may hold only notes after a large
    /// commit.
    pub(crate) fn append(&mut self, bodies: &[Vec<u8>]) -> Result<(), BackendError> {
        if bodies.is_empty() {
            return Ok(());
        }
        let first = self.end.number + 1;
        let is_new = self.last.as_ref().is_none_or(|(.., is_full)| *is_full);
        if is_new {
            let path = self.journal.join(name(first));
            let created = files::options().write(true).create(true).truncate(true).open(&path);
            let file = created.map_err(|source| BackendError::io("create", &path, source))?;
            self.last = Some((file, path, 0, false));
        }
        let Some((file, path, length, is_full)) = &mut self.last else { return Ok(()) };
        let before: u64 = bodies.iter().map(|body| body.len() as u64).sum();
        let ends = *length + before >= SEGMENT_BYTES;
        let Some((pack, end)) = self.packing.encode(self.end, bodies, ends) else {
            let source = io::Error::from(io::ErrorKind::FileTooLarge);
            return Err(BackendError::Io { action: "write so large a commit".to_owned(), source });
        };
        let bytes = if is_new { [&header(&self.salt)[..], &pack].concat() } else { pack };
        let at = usize::try_from(*length).unwrap_or(usize::MAX);
        // Cuts off what a torn write left behind the end.
        let written = file.set_len(*length).and_then(|()| write_at(file, at, &bytes));
        if let Err(source) = written {
            // An error is ignored, because half a pack only takes space.
            let _ = file.set_len(*length);
            return Err(BackendError::io("write", path, source));
        }
        let synced = file.sync_data().and_then(|()| if is_new { sync_dir(&self.journal) } else { Ok(()) });
        synced.map_err(|source| BackendError::Unsynced { source })?;
        *length += bytes.len() as u64;
        *is_full = ends;
        self.end = end;
        Ok(())
    }
}
