//! Pages: many entries in one record.

use serde::{Deserialize, Serialize};
use turnfold_core::Digest;

use super::{key, record};
use crate::chain::Linker;
use crate::local::backend::{BackendError, RecordChange};
use crate::reader::found::Head;

/// The most entries on a page.
pub(crate) const RECORDS_MAX: usize = 64;

/// The most bytes of entries on a page, unless it holds a single one.
pub(crate) const BYTES_MAX: usize = 4096;

/// The only version of pages there is.
pub(crate) const VERSION: u8 = 1;

/// The body of a page record. The field order is the format.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Page<'a> {
    pub(crate) version: u8,
    pub(crate) link: Digest,
    #[serde(borrow)]
    pub(crate) records: Vec<&'a [u8]>,
}

/// Entries that are to be a page, alone or with what follows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) first: u64,
    pub(crate) link: Digest,
    pub(crate) records: Vec<Vec<u8>>,
    bytes: usize,
}

impl Part {
    /// Reads a page as a part of a larger one.
    pub(crate) fn read(key: &[u8], value: &[u8]) -> Result<Self, BackendError> {
        let body = record::body_of(key, value)
            .map_err(|reason| BackendError::Damaged(format!("a page: {reason}")))?;
        let page: Page<'_> = record::read_body("a page", body)?;
        let first = key::seq_of(key).unwrap_or_default();
        let records: Vec<_> = page.records.iter().map(|record| record.to_vec()).collect();
        let bytes = records.iter().map(Vec::len).sum();
        Ok(Self { first, link: page.link, records, bytes })
    }

    /// Returns the number of the entry that follows.
    pub(crate) fn next(&self) -> u64 {
        self.first.saturating_add(self.records.len() as u64)
    }

    /// Takes in what follows, unless that is more than a page holds; then gives it back.
    pub(crate) fn join(&mut self, next: Self) -> Option<Self> {
        let fits =
            self.records.len() + next.records.len() <= RECORDS_MAX && self.bytes + next.bytes <= BYTES_MAX;
        if !fits || self.next() != next.first {
            return Some(next);
        }
        self.records.extend(next.records);
        self.bytes += next.bytes;
        self.link = next.link;
        None
    }

    /// Makes the change that writes it.
    pub(crate) fn put(&self, branch: u64) -> RecordChange {
        let records = self.records.iter().map(Vec::as_slice).collect();
        record::put(key::of_page(branch, self.first), &Page { version: VERSION, link: self.link, records })
    }
}

/// Cuts entries that follow a head into parts of at most a page.
pub(crate) fn cut(before: Head, after: Head, entries: &[&[u8]]) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    let whole: usize = entries.iter().map(|entry| entry.len()).sum();
    let is_one = entries.len() == 1 || entries.len() <= RECORDS_MAX && whole <= BYTES_MAX;
    let (linker, mut link) = (Linker::new(), before.link);
    for (entry, seq) in entries.iter().zip(before.seq + 1..) {
        link = if is_one { after.link } else { linker.link(&link, entry) };
        let part = Part { first: seq, link, records: vec![entry.to_vec()], bytes: entry.len() };
        let rest = match parts.last_mut() {
            Some(last) => last.join(part),
            None => Some(part),
        };
        parts.extend(rest);
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(sizes: &[usize], expected: &[usize]) {
        let records: Vec<_> = sizes.iter().map(|&size| vec![7; size]).collect();
        let entries: Vec<_> = records.iter().map(Vec::as_slice).collect();
        let (linker, before) = (Linker::new(), Head { seq: 3, link: Digest::new([0; 32]) });
        let link = entries.iter().fold(before.link, |link, entry| linker.link(&link, entry));
        let after = Head { seq: 3 + entries.len() as u64, link };
        let parts = cut(before, after, &entries);
        assert_eq!(parts.iter().map(|part| part.records.len()).collect::<Vec<_>>(), expected);
        assert_eq!(parts.last().unwrap().link, link);
        assert!(parts.windows(2).all(|pair| pair[0].next() == pair[1].first));
    }

    #[test]
    fn pages_close_at_their_limits() {
        check(&[10; 63], &[63]);
        check(&[10; 64], &[64]);
        check(&[10; 200], &[64, 64, 64, 8]);
        check(&[2048, 2048], &[2]);
        check(&[2048, 2049, 5], &[1, 2]);
        check(&[5000, 5], &[1, 1]);
        check(&[5, 5000, 5], &[1, 1, 1]);
        check(&[5000], &[1]);
    }
}
