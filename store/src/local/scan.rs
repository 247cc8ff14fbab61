//! Scans the records in a range of keys, a few at a time.

use std::ops::Range;

use super::backend::{Backend, BackendError, StoredRecord};
use crate::engine::until_error;

/// How many records are read at a time.
const SCAN_MAX: usize = 256;

/// Returns the records in a range of keys.
pub(crate) fn scan(
    backend: &dyn Backend,
    range: Range<Vec<u8>>,
) -> impl Iterator<Item = Result<StoredRecord, BackendError>> {
    let mut rest = range;
    let mut loaded = Vec::new().into_iter();
    let mut is_last = false;
    until_error(move || {
        if loaded.len() == 0 && !is_last {
            let found = match backend.scan(&rest, SCAN_MAX) {
                Ok(found) => found,
                Err(error) => return Some(Err(error)),
            };
            match found.last().filter(|_| found.len() == SCAN_MAX) {
                Some((last, _)) => rest.start = [last.as_slice(), &[0]].concat(),
                None => is_last = true,
            }
            loaded = found.into_iter();
        }
        loaded.next().map(Ok)
    })
}
