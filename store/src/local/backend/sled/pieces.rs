//! Long values in pieces, so that sled keeps everything in its log.
//!
//! sled writes what takes more than a quarter of a segment, 128 KiB, to a file of its own that it never syncs: after a
//! power cut the database does not open. It writes a node of its tree as one piece, with the values of up to twenty
//! records. So no value may be long: a longer one is cut into pieces that lie in a table of their own, and the record
//! itself holds only their number.

use crate::local::backend::BackendError;

/// The longest value that is kept whole. Twenty of them fit into a node far below sled's limit, and every page does.
const WHOLE_BYTES_MAX: usize = 5 * 1024;

/// The table of the pieces.
const TABLE: u8 = b'x';

/// As long as no value is: a record's check alone takes more.
const COUNT_BYTES: usize = 4;

/// Returns the records that a record is stored as; the first has the record's own key.
pub(super) fn cut<'a>(key: &'a [u8], value: &'a [u8]) -> Vec<(Vec<u8>, Vec<u8>)> {
    if value.len() <= WHOLE_BYTES_MAX {
        return vec![(key.to_vec(), value.to_vec())];
    }
    let pieces = (0..).zip(value.chunks(WHOLE_BYTES_MAX));
    let mut records: Vec<_> = pieces.map(|(number, piece)| (key_of(key, number), piece.to_vec())).collect();
    let count = u32::try_from(records.len()).unwrap_or(u32::MAX);
    records.insert(0, (key.to_vec(), count.to_be_bytes().to_vec()));
    records
}

/// Returns the number of pieces that a stored value stands for; `None` when it is whole.
pub(crate) fn count(stored: &[u8]) -> Option<u32> {
    <[u8; COUNT_BYTES]>::try_from(stored).ok().map(u32::from_be_bytes)
}

/// Returns the key of a piece.
pub(crate) fn key_of(key: &[u8], number: u32) -> Vec<u8> {
    [&[TABLE], key, &number.to_be_bytes()].concat()
}

/// Returns the key of the record that a piece belongs to; `None` when it is not the key of a piece.
pub(crate) fn owner_of(key: &[u8]) -> Option<&[u8]> {
    let (owner, _number) = key.strip_prefix(&[TABLE])?.split_last_chunk::<COUNT_BYTES>()?;
    Some(owner)
}

/// Puts a value together again; `piece` reads what lies at a key.
pub(super) fn join(
    key: &[u8],
    stored: &[u8],
    piece: impl Fn(&[u8]) -> Result<Option<Vec<u8>>, BackendError>,
) -> Result<Vec<u8>, BackendError> {
    // A piece is whole, also when its length is that of a number.
    let Some(count) = count(stored).filter(|_| owner_of(key).is_none()) else { return Ok(stored.to_vec()) };
    let mut value = Vec::new();
    for number in 0..count {
        let found = piece(&key_of(key, number))?;
        let Some(found) = found else {
            return Err(BackendError::Damaged(format!(
                "piece {} of {count} of a record is missing",
                number + 1
            )));
        };
        value.extend(found);
    }
    Ok(value)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn a_long_value_comes_back_from_its_pieces_or_not_at_all() {
        for length in [8, WHOLE_BYTES_MAX, WHOLE_BYTES_MAX + 1, 2 * WHOLE_BYTES_MAX, 70_000] {
            let value: Vec<_> = (0..=250).cycle().take(length).collect();
            let mut records: BTreeMap<_, _> = cut(b"t1", &value).into_iter().collect();
            assert!(records.values().all(|stored| stored.len() <= WHOLE_BYTES_MAX));
            let stored = records[&b"t1"[..]].clone();
            let read = |records: &BTreeMap<Vec<u8>, Vec<u8>>| {
                join(b"t1", &stored, |key| Ok(records.get(key).cloned()))
            };
            assert_eq!(read(&records).unwrap(), value);
            if let Some(count) = count(&stored) {
                assert_eq!(count as usize, length.div_ceil(WHOLE_BYTES_MAX));
                records.remove(&key_of(b"t1", count - 1));
                assert!(read(&records).unwrap_err().to_string().contains("is missing"));
            }
        }
    }
}
