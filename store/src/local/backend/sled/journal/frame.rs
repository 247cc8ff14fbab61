//! Frames: one commit each, on sectors of its own.

use turnfold_core::Digest;

use crate::local::backend::RecordChange;
use crate::local::layout::key;
use crate::local::layout::record::{self, StoreRecord};
use crate::local::layout::watermark::Watermark;

/// The name of the journal's file in sled's folder, where it shares the fate of the records that it continues.
pub(crate) const FILE: &str = "journal";

/// The length of that file. What it holds goes into sled in one batch, of which no more may be unsynced.
pub(crate) const JOURNAL_BYTES: usize = 128 * 1024;

/// Every frame begins on a sector, so that writing one touches no other.
pub(super) const SECTOR_BYTES: usize = 512;

const CHECK_BYTES: usize = 16;

/// The bytes before the body: its length, the check and the base.
const HEADER_BYTES: usize = 4 + CHECK_BYTES + 32;

/// Stands for the length of a value when the record is removed.
const REMOVED: u32 = u32::MAX;

/// A commit as it lies in the journal.
pub(super) struct Frame {
    /// What was changed since the commit before, without being one, and what the commit changes, the store record last.
    pub(super) changes: Vec<RecordChange>,
    /// How many changes are not the commit's.
    before: usize,
    /// What the store holds after it.
    pub(super) now: Watermark,
    /// The bytes it takes, up to the end of its last sector.
    pub(super) bytes: usize,
}

/// Encodes a commit for a journal that began anew when the store record in sled had the digest `base`, and what was
/// changed `before` it; `None` when a length does not fit.
pub(super) fn encode(base: &Digest, before: &[RecordChange], changes: &[RecordChange]) -> Option<Vec<u8>> {
    let mut body = u32::try_from(before.len()).ok()?.to_le_bytes().to_vec();
    for RecordChange { key, value } in before.iter().chain(changes) {
        let value_bytes = match value {
            Some(value) => u32::try_from(value.len()).ok().filter(|length| *length != REMOVED)?,
            None => REMOVED,
        };
        body.extend(u32::try_from(key.len()).ok()?.to_le_bytes());
        body.extend(value_bytes.to_le_bytes());
        body.extend_from_slice(key);
        body.extend_from_slice(value.as_deref().unwrap_or_default());
    }
    let length = u32::try_from(body.len()).ok()?.to_le_bytes();
    let mut frame = [&length, &check(base, &body)[..], base.as_bytes(), &body].concat();
    frame.resize(frame.len().next_multiple_of(SECTOR_BYTES), 0);
    Some(frame)
}

impl Frame {
    /// Reads the frame at the beginning of `bytes`; `None` if there is no sound one, or one of another base than is
    /// asked for.
    pub(super) fn read(bytes: &[u8], expected_base: Option<&Digest>) -> Option<Self> {
        let (length, rest) = bytes.split_first_chunk()?;
        let (found_check, rest) = rest.split_first_chunk::<CHECK_BYTES>()?;
        let (base, rest) = rest.split_first_chunk()?;
        let base = Digest::new(*base);
        let length = usize::try_from(u32::from_le_bytes(*length)).ok().filter(|length| *length > 0)?;
        let body = rest.get(..length)?;
        let (before, all) = body.split_first_chunk()?;
        if expected_base.is_some_and(|expected| *expected != base) || check(&base, body) != *found_check {
            return None;
        }
        let mut changes = Vec::new();
        let rest = each_change(all, &mut |key, value| {
            changes.push(RecordChange { key: key.to_vec(), value: value.map(<[u8]>::to_vec) });
        });
        let RecordChange { key, value } = changes.last()?;
        let StoreRecord { now, .. } =
            value.as_deref().and_then(record::read_store).filter(|_| rest.is_empty() && key == key::STORE)?;
        let bytes = (HEADER_BYTES + length).next_multiple_of(SECTOR_BYTES);
        Some(Self { changes, before: usize::try_from(u32::from_le_bytes(*before)).ok()?, now, bytes })
    }

    /// Returns `true` if it is the commit that follows those that `before` counts.
    pub(super) fn continues(&self, before: &Watermark) -> bool {
        let Some((_, changes)) = self.changes.split_last() else { return false };
        let after = before.after(changes.get(self.before..).unwrap_or_default(), 0, None);
        (after.commits, after.digest) == (self.now.commits, self.now.digest)
    }
}

/// Visits the changes in the body of a frame as far as they can be read, and returns what follows.
fn each_change<'a>(mut body: &'a [u8], visit: &mut dyn FnMut(&'a [u8], Option<&'a [u8]>)) -> &'a [u8] {
    loop {
        let read = || {
            let (key_bytes, rest) = body.split_first_chunk()?;
            let (value_bytes, rest) = rest.split_first_chunk()?;
            let (key, rest) = rest.split_at_checked(usize::try_from(u32::from_le_bytes(*key_bytes)).ok()?)?;
            let value_bytes = u32::from_le_bytes(*value_bytes);
            if value_bytes == REMOVED {
                return Some((key, None, rest));
            }
            let (value, rest) = rest.split_at_checked(usize::try_from(value_bytes).ok()?)?;
            Some((key, Some(value), rest))
        };
        // No key is empty; what follows a frame is zero.
        let Some((key, value, rest)) = read().filter(|(key, ..)| !key.is_empty()) else { return body };
        visit(key, value);
        body = rest;
    }
}

/// Visits what may be records that the frame at the beginning of `bytes` writes, whatever its check says.
pub(super) fn each_record<'a>(bytes: &'a [u8], visit: &mut dyn FnMut(&'a [u8], &'a [u8])) {
    let changes = bytes.get(HEADER_BYTES + 4..).unwrap_or_default();
    each_change(changes, &mut |key, value| {
        if let Some(value) = value {
            visit(key, value);
        }
    });
}

fn check(base: &Digest, body: &[u8]) -> [u8; CHECK_BYTES] {
    let mut hasher = blake3::Hasher::new_derive_key("turnfold v1 journal");
    hasher.update(base.as_bytes()).update(body);
    let mut check = [0; CHECK_BYTES];
    hasher.finalize_xof().fill(&mut check);
    check
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame() -> (Digest, Vec<RecordChange>, Vec<u8>) {
        let base = Digest::new([3; 32]);
        let changes = vec![
            record::put(b"t1".to_vec(), &7),
            RecordChange { key: b"t2".to_vec(), value: None },
            RecordChange { key: b"x".to_vec(), value: Some(vec![5; 700]) },
            record::put(key::STORE.to_vec(), &StoreRecord::EMPTY),
        ];
        let bytes = encode(&base, &changes[..1], &changes[1..]).unwrap();
        (base, changes, bytes)
    }

    #[test]
    fn a_frame_reads_back_as_what_was_written_in_whole_sectors() {
        let (base, changes, bytes) = frame();
        assert_eq!(bytes.len() % SECTOR_BYTES, 0);
        let read = Frame::read(&[&bytes[..], &[9; 99]].concat(), Some(&base)).unwrap();
        assert_eq!((read.changes, read.bytes), (changes.clone(), bytes.len()));
        assert!(Frame::read(&bytes, Some(&Digest::new([4; 32]))).is_none());
        // A frame without a store record at its end counts nothing.
        assert!(Frame::read(&encode(&base, &[], &changes[..3]).unwrap(), None).is_none());
        assert!(Frame::read(&[0; 2 * SECTOR_BYTES], None).is_none());
    }

    #[test]
    fn what_is_changed_before_a_commit_is_no_part_of_its_digest() {
        let before = [record::put(b"p".to_vec(), &1)];
        let mut changes = vec![record::put(b"t1".to_vec(), &7)];
        let now = Watermark::NOTHING.after(&changes, 1, None);
        changes.push(record::put(key::STORE.to_vec(), &StoreRecord { now, ..StoreRecord::EMPTY }));
        let read = |before: &[RecordChange], changes: &[RecordChange]| {
            Frame::read(&encode(&Watermark::NOTHING.digest, before, changes).unwrap(), None).unwrap()
        };
        assert!(read(&before, &changes).continues(&Watermark::NOTHING));
        assert!(read(&[], &changes).continues(&Watermark::NOTHING));
        assert!(!read(&[], &[&before[..], &changes].concat()).continues(&Watermark::NOTHING));
        assert!(!read(&changes[..1], &changes[1..]).continues(&Watermark::NOTHING));
    }

    #[test]
    fn no_flipped_byte_and_no_torn_sector_leaves_a_sound_frame() {
        let (_, _, bytes) = frame();
        let used = bytes.iter().rposition(|byte| *byte != 0).unwrap() + 1;
        for at in 0..used {
            let mut flipped = bytes.clone();
            flipped[at] ^= 1 << (at % 8);
            assert!(Frame::read(&flipped, None).is_none(), "byte {at}");
            assert!(Frame::read(&bytes[..at], None).is_none(), "cut at {at}");
        }
        for at in (0..bytes.len()).step_by(SECTOR_BYTES) {
            let mut torn = bytes.clone();
            torn[at..at + SECTOR_BYTES].fill(0);
            assert!(Frame::read(&torn, None).is_none(), "sector at {at}");
        }
    }

    #[test]
    fn records_of_a_damaged_frame_are_found_up_to_the_damage() {
        let (_, changes, mut bytes) = frame();
        bytes[10] ^= 1;
        let mut found = Vec::new();
        each_record(&bytes, &mut |key, _| found.push(key.to_vec()));
        assert_eq!(found, [0, 2, 3].map(|place| changes[place].key.clone()));
    }
}
