//! Packs: the commits of a full head, or a single large commit, in a segment.
//!
//! A pack is a prefix, frames and a trailer. Both ends record what it holds, so it can be found from either end.

use std::borrow::Cow;

use super::commit::{Checker, Fields, Point, Salt};

const MAGIC: &[u8; 4] = b"pack";

const CHECK_BYTES: usize = 16;
const FRAME_CHECK_BYTES: usize = 8;

pub(crate) const PREFIX_BYTES: usize = 4 + 8 + 4 + 4 + 32 + CHECK_BYTES;

/// The bytes of the trailer behind the frame lengths.
pub(crate) const FOOTER_BYTES: usize = 4 + 4 + 8 + 4 + 1 + 32 + CHECK_BYTES;

/// Bodies shorter than this are not worth compressing.
const COMPRESSED_FROM: usize = 256;

/// What a pack records at one of its ends.
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
    /// Returns the number of the pack's last commit.
    pub(crate) fn last(&self) -> u64 {
        self.first.saturating_add(u64::from(self.count)).saturating_sub(1)
    }

    /// Returns the bytes of the whole pack. Call it on the back, because the front does not have `length_bytes`.
    pub(crate) fn bytes(&self) -> u64 {
        PREFIX_BYTES as u64 + u64::from(self.frame_bytes) + u64::from(self.length_bytes) + FOOTER_BYTES as u64
    }
}

/// Encodes and reads the packs of one journal.
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
            let compressed =
                (body.len() >= COMPRESSED_FROM).then(|| lz4_flex::block::compress_prepend_size(body));
            let compressed = compressed.filter(|compressed| compressed.len() < body.len());
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

    /// Returns how many bytes of frame lengths precede a footer. It does not check the footer.
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

/// Returns how many bytes the frame at the front of `bytes` takes, according to its length field.
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
