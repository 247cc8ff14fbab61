//! Scanning: the records in a range of keys, a few at a time.

use std::ops::Range;
use std::vec;

use super::backend::{Backend, BackendError, StoredRecord};

/// How many records are read at a time.
const SCAN_MAX: usize = 256;

/// The records in a range of keys, however many there are. Iteration ends with the first error.
pub(crate) struct Scan<'a> {
    backend: &'a dyn Backend,
    rest: Range<Vec<u8>>,
    loaded: vec::IntoIter<StoredRecord>,
    is_last: bool,
}

impl<'a> Scan<'a> {
    pub(crate) fn new(backend: &'a dyn Backend, range: Range<Vec<u8>>) -> Self {
        Self { backend, rest: range, loaded: Vec::new().into_iter(), is_last: false }
    }

    fn load(&mut self) -> Result<(), BackendError> {
        let found = self.backend.scan(&self.rest, SCAN_MAX)?;
        match found.last().filter(|_| found.len() == SCAN_MAX) {
            Some((last, _)) => self.rest.start = [last.as_slice(), &[0]].concat(),
            None => self.is_last = true,
        }
        self.loaded = found.into_iter();
        Ok(())
    }
}

impl Iterator for Scan<'_> {
    type Item = Result<StoredRecord, BackendError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(record) = self.loaded.next() {
                return Some(Ok(record));
            }
            if self.is_last {
                return None;
            }
            if let Err(error) = self.load() {
                self.is_last = true;
                return Some(Err(error));
            }
        }
    }
}
