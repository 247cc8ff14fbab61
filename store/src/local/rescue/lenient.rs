//! Reading past what cannot be read.

use std::ops::Range;

use crate::local::backend::StoredRecord;
use crate::local::reader::records::Records;

/// How many bytes of a key are tried one after another to get past a place that cannot be read.
const DETOUR_BYTES: usize = 16;

/// How many records are read at a time.
const SCAN_MAX: usize = 256;

/// Returns the records in a range of keys that can be read; around a place that cannot, every way past it is tried.
pub(super) fn scan_leniently(records: &Records, range: &Range<Vec<u8>>) -> Vec<StoredRecord> {
    let mut found = Vec::new();
    detour(records, range, range.start.len(), &mut found);
    found
}

/// Reads a range, and where that fails the ranges of its first byte after `known`, each by itself.
fn detour(store: &Records, range: &Range<Vec<u8>>, known: usize, found: &mut Vec<StoredRecord>) {
    let before = found.len();
    let mut rest = range.clone();
    while let Ok(records) = store.backend.scan(&rest, SCAN_MAX) {
        let is_last = records.len() < SCAN_MAX;
        if let Some((last, _)) = records.last() {
            rest.start = [last.as_slice(), &[0]].concat();
        }
        found.extend(records);
        if is_last {
            return;
        }
    }
    found.truncate(before);
    if known >= DETOUR_BYTES {
        return;
    }
    let prefix: Vec<u8> = range.start.get(..known).unwrap_or_default().to_vec();
    if let Ok(Some(value)) = store.backend.get(&prefix) {
        found.push((prefix.clone(), value));
    }
    for byte in 0..=u8::MAX {
        let from = [prefix.as_slice(), &[byte]].concat();
        let until = match byte.checked_add(1) {
            Some(next) => [prefix.as_slice(), &[next]].concat(),
            None => range.end.clone(),
        };
        if until <= from {
            continue;
        }
        detour(store, &(from..until), known + 1, found);
    }
}
