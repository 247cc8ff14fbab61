//! Pages: many entries in one record.

use serde::{Deserialize, Serialize};
use turnfold_core::Digest;

use super::{key, record};
use crate::local::backend::RecordChange;

/// The most entries on a page.
pub(crate) const RECORDS_MAX: usize = 64;

/// The most bytes of entries on a page, unless it holds a single one.
pub(crate) const BYTES_MAX: usize = 4096;

/// The fewest entries that are worth a page when they would otherwise be written one by one.
pub(crate) const RECORDS_MIN: usize = 16;

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

/// Encoded entries of a branch that no page holds yet, each with the link after it, and the link before them.
#[derive(Clone, Debug)]
pub(crate) struct Unsealed {
    pub(crate) first: u64,
    pub(crate) before: Digest,
    pub(crate) records: Vec<(Vec<u8>, Digest)>,
}

impl Unsealed {
    /// Returns `true` if there is enough for a page.
    pub(crate) fn fills_a_page(&self) -> bool {
        self.records.len() >= RECORDS_MAX
            || self.records.iter().map(|(record, _)| record.len()).sum::<usize>() >= BYTES_MAX
    }

    /// Moves all full pages from the front into page records; what remains waits for more.
    pub(crate) fn cut_pages(&mut self, branch_id: u64) -> Vec<RecordChange> {
        let mut pages = Vec::new();
        let mut sealed = 0;
        while let Some(count) = page_length(self.records.get(sealed..).unwrap_or_default()) {
            pages.push(self.page(branch_id, sealed, count));
            sealed += count;
        }
        self.records.drain(..sealed);
        pages
    }

    /// Moves what remains, which fills no page, into one all the same.
    pub(crate) fn cut_rest(&mut self, branch_id: u64) -> Option<RecordChange> {
        let count = self.records.len();
        let page = (count > 0).then(|| self.page(branch_id, 0, count));
        self.records.clear();
        page
    }

    /// Makes a page of `count` records after those already on pages.
    fn page(&mut self, branch_id: u64, sealed: usize, count: usize) -> RecordChange {
        let mut link = self.before;
        let on_page = self.records.iter().skip(sealed).take(count);
        let records = on_page.inspect(|(_, after)| link = *after).map(|(record, _)| record.as_slice());
        let records: Vec<_> = records.collect();
        let change =
            record::put(key::of_page(branch_id, self.first), &Page { version: VERSION, link, records });
        self.first += count as u64;
        self.before = link;
        change
    }
}

/// Returns how many records from the front make a full page, if they do.
fn page_length(records: &[(Vec<u8>, Digest)]) -> Option<usize> {
    let mut bytes = 0;
    let fitting = records.iter().take(RECORDS_MAX).take_while(|(record, _)| {
        bytes += record.len();
        bytes <= BYTES_MAX
    });
    let count = fitting.count();
    let full = count == RECORDS_MAX || count < records.len() || bytes == BYTES_MAX;
    full.then_some(count.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chain::Linker;

    fn check(sizes: &[usize], expected_pages: &[usize], expected_rest: usize) {
        let records: Vec<_> = sizes.iter().map(|&size| vec![7; size]).collect();
        let (linker, mut link) = (Linker::new(), Digest::new([0; 32]));
        let entries = records.iter().map(|record| {
            link = linker.link(&link, record);
            (record.clone(), link)
        });
        let entries = entries.collect();
        let mut unsealed = Unsealed { first: 1, before: Digest::new([0; 32]), records: entries };
        let mut pages = Vec::new();
        let mut seq = 1;
        for change in unsealed.cut_pages(9) {
            assert_eq!(key::seq_of(&change.key), Some(seq));
            let value = change.value.unwrap();
            let page: Page<'_> = record::read("page", &change.key, &value).unwrap();
            pages.push(page.records.len());
            seq += page.records.len() as u64;
        }
        assert_eq!((pages.as_slice(), unsealed.records.len()), (expected_pages, expected_rest));
        assert_eq!(unsealed.first, seq);
        assert!(!unsealed.fills_a_page() || unsealed.records.is_empty());
        let sealed = records.len() - expected_rest;
        let link =
            records[..sealed].iter().fold(Digest::new([0; 32]), |link, entry| linker.link(&link, entry));
        assert_eq!(unsealed.before, link);
    }

    #[test]
    fn pages_close_at_their_limits() {
        check(&[], &[], 0);
        check(&[10; 63], &[], 63);
        check(&[10; 64], &[64], 0);
        check(&[10; 200], &[64, 64, 64], 8);
        check(&[2048, 2048], &[2], 0);
        check(&[2048, 2047], &[], 2);
        check(&[2048, 2049, 5], &[1], 2);
        check(&[5000, 5], &[1], 1);
        check(&[5, 5000, 5], &[1, 1], 1);
        check(&[5000], &[1], 0);
    }
}
