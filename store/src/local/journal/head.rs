//! Heads: the two files that commits are written to first, as frames that each begin on a sector of their own.

use std::io;
use std::path::Path;

use turnfold_core::Digest;

use crate::local::backend::BackendError;
use crate::local::files::{self, open_sound, read_at, write_at};
use crate::local::journal::commit::{
    Checker, Fields, HEADER_BYTES, Point, Salt, header, read_header, unseal,
};

pub(crate) const NAMES: [&str; 2] = ["head.a", "head.b"];

/// The length of each head. Its first sector holds the header.
pub(crate) const HEAD_BYTES: usize = 256 * 1024;

pub(crate) const FIRST_FRAME: usize = SECTOR_BYTES;

/// The place of the end mark in a head: behind the header, in the same sector.
pub(crate) const END_AT: usize = HEADER_BYTES;

pub(crate) const END: &str = "turnfold v2 end";

pub(crate) struct JournalHead {
    pub(crate) salt: Salt,
    /// The sound frames from the start of the head. Each continues the one before.
    pub(crate) frames: Vec<JournalFrame>,
    /// The place for the next frame. A note that the store was closed is overwritten.
    pub(crate) end: usize,
    /// The sound frames behind the first unsound one. They are of an earlier use of the head, or behind damage.
    pub(crate) strays: Vec<JournalFrame>,
    /// The end mark: the last commit when the store was closed, with the closing note in the other head. The journal
    /// must always reach it, because no commit is ever withdrawn.
    pub(crate) ended_at: Option<Point>,
    pub(crate) bytes: Vec<u8>,
}

/// Makes a head of a new journal. Its content is durable, its name is not yet.
pub(crate) fn create(path: &Path, salt: &Salt, turn: u64) -> io::Result<()> {
    let mut bytes = vec![0; HEAD_BYTES];
    let note =
        JournalFrame { kind: Kind::Closed, turn, index: 0, before: Point::start(salt), body: Vec::new() };
    let frame = note.encode(&framing(salt)).unwrap_or_default();
    bytes.splice(..HEADER_BYTES, header(salt));
    bytes.splice(FIRST_FRAME..FIRST_FRAME + frame.len(), frame);
    // All bytes are written now, because otherwise the sync of a commit would also have to record newly used space.
    let file = files::options().write(true).create(true).truncate(true).open(path)?;
    write_at(&file, 0, &bytes)?;
    file.sync_all()
}

pub(crate) fn read_bytes(path: &Path) -> Result<Vec<u8>, BackendError> {
    let shown = path.display();
    let (file, length) = open_sound(path)?;
    if length != HEAD_BYTES as u64 {
        return Err(BackendError::Damaged(format!(
            "`{shown}` has {length} bytes, it should have {HEAD_BYTES}"
        )));
    }
    let bytes = BackendError::on(path, "read", read_at(&file, 0, HEAD_BYTES))?;
    if bytes.len() == HEAD_BYTES {
        return Ok(bytes);
    }
    Err(BackendError::Damaged(format!("`{shown}` ends after {} bytes", bytes.len())))
}

impl JournalHead {
    pub(crate) fn read(path: &Path) -> Result<Self, BackendError> {
        let bytes = read_bytes(path)?;
        let Some(salt) = read_header(&bytes) else {
            return Err(BackendError::Damaged(format!("`{}` does not begin as a head does", path.display())));
        };
        Ok(Self::of(salt, bytes))
    }

    pub(crate) fn of(salt: Salt, bytes: Vec<u8>) -> Self {
        let framing = framing(&salt);
        let ended_at = bytes.get(END_AT..SECTOR_BYTES).and_then(|mark| unseal(END, &salt, mark));
        let mut head =
            Self { salt, frames: Vec::new(), end: FIRST_FRAME, strays: Vec::new(), ended_at, bytes };
        let mut at = FIRST_FRAME;
        let mut end: Option<(Point, u64)> = None;
        while let Some(bytes) = head.bytes.get(at..)
            && let Some(frame) = JournalFrame::read(&framing, bytes)
        {
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
            let stray = JournalFrame::read(&framing, bytes);
            at += stray.as_ref().map_or(SECTOR_BYTES, JournalFrame::bytes);
            head.strays.extend(stray);
        }
        head
    }

    pub(crate) fn highest(&self) -> u64 {
        let mut highest = self.ended_at.map_or(0, |end| end.number);
        for frame in self.frames.iter().chain(&self.strays) {
            highest = highest.max(frame.last());
        }
        highest
    }

    pub(crate) fn turn(&self) -> Option<u64> {
        self.frames.last().map(|frame| frame.turn)
    }
}

/// Every frame begins on a sector, so writing a frame touches no other.
pub(crate) const SECTOR_BYTES: usize = 512;

const CHECK_BYTES: usize = 16;

const PREFIX_BYTES: usize = CHECK_BYTES + 4 + 8 + 8 + 4 + 1 + 32;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Commit,
    /// A note on the last commit; more frames may follow it.
    Note,
    /// A note that the store was closed; the next frame overwrites it.
    Closed,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct JournalFrame {
    pub(crate) kind: Kind,
    /// Grows by one with each frame, across both heads. It distinguishes this use of a head from an earlier one.
    pub(crate) turn: u64,
    /// The index that was synced and has not been written to since; 0 for none.
    pub(crate) index: u32,
    /// The point before this commit; in a note, the last commit.
    pub(crate) before: Point,
    pub(crate) body: Vec<u8>,
}

/// Returns the checker of frames.
pub(crate) fn framing(salt: &Salt) -> Checker {
    Checker::new("turnfold v2 frame", salt)
}

impl JournalFrame {
    /// Encodes a frame, padded to the end of its last sector; `None` if the body is too long for its length field.
    pub(crate) fn encode(&self, framing: &Checker) -> Option<Vec<u8>> {
        let kind = match self.kind {
            Kind::Commit => 0,
            Kind::Note => 1,
            Kind::Closed => 2,
        };
        let mut rest = u32::try_from(self.body.len()).ok()?.to_le_bytes().to_vec();
        rest.extend(self.before.number.to_le_bytes());
        rest.extend(self.turn.to_le_bytes());
        rest.extend(self.index.to_le_bytes());
        rest.push(kind);
        rest.extend(self.before.digest.as_bytes());
        rest.extend(&self.body);
        let check: [u8; CHECK_BYTES] = framing.check(&[&rest]);
        let mut bytes = [&check[..], &rest].concat();
        bytes.resize(bytes.len().next_multiple_of(SECTOR_BYTES), 0);
        Some(bytes)
    }

    /// Reads the frame at the front of `bytes`; `None` if it is not sound.
    pub(crate) fn read(framing: &Checker, bytes: &[u8]) -> Option<Self> {
        let (found, rest) = bytes.split_first_chunk::<CHECK_BYTES>()?;
        let mut fields = Fields(rest);
        let length = usize::try_from(fields.u32()?).ok()?;
        let number = fields.u64()?;
        let turn = fields.u64()?;
        let index = fields.u32()?;
        let [kind] = fields.take()?;
        let digest: Digest = fields.digest()?;
        let body = fields.bytes(length)?;
        let all = rest.get(..PREFIX_BYTES - CHECK_BYTES + length)?;
        let kind = match kind {
            0 => Kind::Commit,
            1 => Kind::Note,
            2 => Kind::Closed,
            _ => return None,
        };
        if framing.check::<CHECK_BYTES>(&[all]) != *found {
            return None;
        }
        let before = Point { number, digest };
        Some(Self { kind, turn, index, before, body: body.to_vec() })
    }

    pub(crate) fn bytes(&self) -> usize {
        (PREFIX_BYTES + self.body.len()).next_multiple_of(SECTOR_BYTES)
    }

    pub(crate) fn follows(&self, point: Point) -> bool {
        // A note may skip numbers, because large commits bypass the heads.
        self.before == point || self.kind != Kind::Commit && self.before.number > point.number
    }

    pub(crate) fn end(&self) -> Point {
        if self.kind == Kind::Commit { self.before.after(&self.body) } else { self.before }
    }

    pub(crate) fn last(&self) -> u64 {
        self.before.number.saturating_add(u64::from(self.kind == Kind::Commit))
    }
}
