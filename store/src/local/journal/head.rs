//! Heads: the two files into which commits go first.

use std::io;
use std::path::Path;

use super::commit::{Checker, Fields, HEADER_BYTES, Point, Salt, header, read_header};
use super::frame::{Frame, Framing, Kind, SECTOR_BYTES};
use crate::local::backend::BackendError;
use crate::local::dir::files::{self, open_sound, read_at, write_at};

/// The names of the two files.
pub(crate) const NAMES: [&str; 2] = ["head.a", "head.b"];

/// The length of each; its first sector is its header.
pub(crate) const HEAD_BYTES: usize = 256 * 1024;

pub(crate) const FIRST_FRAME: usize = SECTOR_BYTES;

/// Where a head may hold the end of the journal: behind its header, in the same sector.
pub(crate) const END_AT: usize = HEADER_BYTES;

const END_CHECK_BYTES: usize = 16;

/// Encodes where the journal with this salt ends.
pub(crate) fn end_mark(salt: &Salt, end: Point) -> Vec<u8> {
    let body = [&end.number.to_le_bytes()[..], end.digest.as_bytes()].concat();
    let check: [u8; END_CHECK_BYTES] = Checker::new("turnfold v2 end", salt).check(&[&body]);
    [&check[..], &body].concat()
}

/// Reads where the journal with this salt ended when it was closed; `None` if a head does not hold that.
fn read_end_mark(salt: &Salt, head: &[u8]) -> Option<Point> {
    let mark = head.get(END_AT..SECTOR_BYTES)?;
    let mut fields = Fields(mark.get(END_CHECK_BYTES..)?);
    let end = Point { number: fields.u64()?, digest: fields.digest()? };
    mark.starts_with(&end_mark(salt, end)).then_some(end)
}

pub(crate) struct Head {
    pub(crate) salt: Salt,
    /// The sound frames from the first on, each continues the one before.
    pub(crate) frames: Vec<Frame>,
    /// Where what follows them begins; a note that the store was closed is overwritten.
    pub(crate) end: usize,
    /// The sound frames behind the first one that is not: of an earlier use, or behind damage.
    pub(crate) strays: Vec<Frame>,
    /// Where the journal ended when it was closed with the last frame in the other head. No commit is taken back, so the
    /// journal has at least that for ever.
    pub(crate) ended_at: Option<Point>,
    pub(crate) bytes: Vec<u8>,
}

/// Makes a head of a new journal, durable but for its name.
pub(crate) fn create(path: &Path, salt: &Salt, turn: u64) -> io::Result<()> {
    let mut bytes = vec![0; HEAD_BYTES];
    let note = Frame { kind: Kind::Closed, turn, index: 0, before: Point::start(salt), body: Vec::new() };
    let frame = Framing::new(salt).encode(&note).unwrap_or_default();
    let parts = [(0, &header(salt)[..]), (FIRST_FRAME, &frame)];
    for (at, part) in parts {
        for (to, from) in bytes.iter_mut().skip(at).zip(part) {
            *to = *from;
        }
    }
    // Space that was never written would have to be noted by the file system with each commit.
    let file = files::options().write(true).create(true).truncate(true).open(path)?;
    write_at(&file, 0, &bytes)?;
    file.sync_all()
}

/// Reads the bytes of a head, if it is one as far as its name, kind and length show.
pub(crate) fn read_bytes(path: &Path) -> Result<Vec<u8>, BackendError> {
    let shown = path.display();
    let (file, length) = open_sound(path)?;
    if length != HEAD_BYTES as u64 {
        return Err(BackendError::Damaged(format!(
            "`{shown}` has {length} bytes, it should have {HEAD_BYTES}"
        )));
    }
    let bytes = read_at(&file, 0, HEAD_BYTES).map_err(|source| BackendError::io("read", path, source))?;
    if bytes.len() == HEAD_BYTES {
        return Ok(bytes);
    }
    Err(BackendError::Damaged(format!("`{shown}` ends after {} bytes", bytes.len())))
}

impl Head {
    pub(crate) fn read(path: &Path) -> Result<Self, BackendError> {
        let bytes = read_bytes(path)?;
        let salt = bytes.get(..HEADER_BYTES).and_then(read_header);
        let Some(salt) = salt else {
            return Err(BackendError::Damaged(format!("`{}` does not begin as a head does", path.display())));
        };
        Ok(Self::of(salt, bytes))
    }

    /// Finds the frames in the bytes of a head.
    pub(crate) fn of(salt: Salt, bytes: Vec<u8>) -> Self {
        let framing = Framing::new(&salt);
        let ended_at = read_end_mark(&salt, &bytes);
        let mut head =
            Self { salt, frames: Vec::new(), end: FIRST_FRAME, strays: Vec::new(), ended_at, bytes };
        let mut at = FIRST_FRAME;
        let mut end: Option<(Point, u64)> = None;
        while let Some(frame) = head.bytes.get(at..).and_then(|bytes| framing.read(bytes)) {
            if end.is_some_and(|(point, turn)| frame.turn != turn + 1 || !frame.follows(point)) {
                break;
            }
            at += frame.bytes();
            let is_last = frame.kind == Kind::Closed;
            if !is_last {
                head.end = at;
            }
            end = Some((frame.end(), frame.turn));
            head.frames.push(frame);
            if is_last {
                break;
            }
        }
        while let Some(bytes) = head.bytes.get(at..).filter(|bytes| !bytes.is_empty()) {
            let stray = framing.read(bytes);
            at += stray.as_ref().map_or(SECTOR_BYTES, Frame::bytes);
            head.strays.extend(stray);
        }
        head
    }

    /// Returns the highest number of a commit that it names.
    pub(crate) fn highest(&self) -> u64 {
        let frames = self.frames.iter().chain(&self.strays).map(Frame::last).max();
        frames.max(self.ended_at.map(|end| end.number)).unwrap_or(0)
    }

    /// Returns how far the frames have come that count here.
    pub(crate) fn turn(&self) -> Option<u64> {
        self.frames.last().map(|frame| frame.turn)
    }
}
