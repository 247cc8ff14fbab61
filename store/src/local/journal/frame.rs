//! Frames: a commit, or a note on where the journal ends. Each begins on a sector of its own.

use turnfold_core::Digest;

use super::commit::{Checker, Fields, Point, Salt};

/// Every frame begins on a sector, so writing a frame touches no other.
pub(crate) const SECTOR_BYTES: usize = 512;

const CHECK_BYTES: usize = 16;

/// The bytes of a frame before its body.
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

/// Encodes and reads the frames of one journal.
#[derive(Clone)]
pub(crate) struct Framing(Checker);

impl Framing {
    pub(crate) fn new(salt: &Salt) -> Self {
        Self(Checker::new("turnfold v2 frame", salt))
    }

    /// Encodes a frame, padded to the end of its last sector; `None` if the body is too long for its length field.
    pub(crate) fn encode(&self, frame: &JournalFrame) -> Option<Vec<u8>> {
        let JournalFrame { kind, turn, index, before, body } = frame;
        let kind = match kind {
            Kind::Commit => 0,
            Kind::Note => 1,
            Kind::Closed => 2,
        };
        let mut rest = u32::try_from(body.len()).ok()?.to_le_bytes().to_vec();
        rest.extend(before.number.to_le_bytes());
        rest.extend(turn.to_le_bytes());
        rest.extend(index.to_le_bytes());
        rest.push(kind);
        rest.extend(before.digest.as_bytes());
        rest.extend(body);
        let check: [u8; CHECK_BYTES] = self.0.check(&[&rest]);
        let mut bytes = [&check[..], &rest].concat();
        bytes.resize(bytes.len().next_multiple_of(SECTOR_BYTES), 0);
        Some(bytes)
    }

    /// Reads the frame at the front of `bytes`; `None` if there is no sound one.
    pub(crate) fn read(&self, bytes: &[u8]) -> Option<JournalFrame> {
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
        let is_sound = self.0.check::<CHECK_BYTES>(&[all]) == *found;
        let before = Point { number, digest };
        is_sound.then(|| JournalFrame { kind, turn, index, before, body: body.to_vec() })
    }
}

impl JournalFrame {
    /// Returns how many bytes the frame takes, up to the end of its last sector.
    pub(crate) fn bytes(&self) -> usize {
        (PREFIX_BYTES + self.body.len()).next_multiple_of(SECTOR_BYTES)
    }

    /// Returns `true` if the frame may follow `point`. A note may skip numbers, because large commits bypass the heads.
    pub(crate) fn follows(&self, point: Point) -> bool {
        self.before == point || self.kind != Kind::Commit && self.before.number > point.number
    }

    /// Returns the last commit after this frame.
    pub(crate) fn end(&self) -> Point {
        if self.kind == Kind::Commit { self.before.after(&self.body) } else { self.before }
    }

    /// Returns the number of the last commit after this frame.
    pub(crate) fn last(&self) -> u64 {
        self.before.number.saturating_add(u64::from(self.kind == Kind::Commit))
    }
}
