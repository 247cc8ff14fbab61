//! Pages: records of many entries each.

use serde::{Deserialize, Serialize};
use turnfold_core::Digest;

use crate::chain::Linker;
use crate::decode::decode_data;
use crate::entry::{Seq, encode};
use crate::error::{Placed, StoreError};
use crate::local::backend::{BackendError, RecordChange};
use crate::local::records::Records;
use crate::local::{key, record};
use crate::reader::branch::Head;

pub(crate) const RECORDS_MAX: usize = 64;

/// The most bytes of entries on a page. A longer entry has a page of its own.
pub(crate) const BYTES_MAX: usize = 4096;

pub(crate) const VERSION: u8 = 1;

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PageBody<'a> {
    pub(crate) version: u8,
    pub(crate) link: Digest,
    #[serde(borrow)]
    pub(crate) records: Vec<&'a [u8]>,
}

/// Entries for one page, which further entries may join.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PagePart {
    pub(crate) first: u64,
    pub(crate) link: Digest,
    count: usize,
    /// The bytes of the entries without their length prefixes.
    bytes: usize,
    /// The entries one after another, as a page encodes them.
    encoded: Vec<u8>,
}

impl PagePart {
    fn of(first: u64, link: Digest, entry: &[u8]) -> Self {
        Self { first, link, count: 1, bytes: entry.len(), encoded: encode(&entry) }
    }

    pub(crate) fn read(key: &[u8], value: &[u8]) -> Result<Self, BackendError> {
        let body = record::body_of(key, value)
            .map_err(|reason| BackendError::Damaged(format!("a page: {reason}")))?;
        let page: PageBody<'_> =
            decode_data(body).map_err(|error| BackendError::Damaged(format!("a page: {error}")))?;
        let first = key::seq_of(key).unwrap_or_default();
        let mut part =
            Self { first, link: page.link, count: page.records.len(), bytes: 0, encoded: Vec::new() };
        for record in page.records {
            part.bytes += record.len();
            part.encoded.extend(encode(&record));
        }
        Ok(part)
    }

    pub(crate) fn next(&self) -> u64 {
        self.first.saturating_add(self.count as u64)
    }

    pub(crate) fn size(&self) -> usize {
        self.encoded.len() + 64
    }

    pub(crate) fn add(pages: &mut Vec<Self>, part: Self) {
        if let Some(last) = pages.last_mut()
            && last.next() == part.first
            && last.count + part.count <= RECORDS_MAX
            && last.bytes + part.bytes <= BYTES_MAX
        {
            last.encoded.extend(part.encoded);
            last.count += part.count;
            last.bytes += part.bytes;
            last.link = part.link;
        } else {
            pages.push(part);
        }
    }

    pub(crate) fn put(self, branch: u64) -> RecordChange {
        let key = key::of_page(branch, self.first);
        let mut body = encode(&PageBody { version: VERSION, link: self.link, records: Vec::new() });
        // Replaces the count, which is the last field before the entries.
        body.pop();
        body.extend(encode(&self.count));
        body.extend(self.encoded);
        let value = Some(record::with_check(&key, body));
        RecordChange { key, value }
    }
}

/// Splits entries that follow `before` into parts of at most a page. `after` is the head behind all of them.
pub(crate) fn cut(before: Head, after: Head, entries: &[&[u8]]) -> Vec<PagePart> {
    let mut parts = Vec::new();
    let whole: usize = entries.iter().map(|entry| entry.len()).sum();
    let is_one = entries.len() == 1 || entries.len() <= RECORDS_MAX && whole <= BYTES_MAX;
    let mut linker = Linker::new();
    let mut link = before.link;
    for (entry, seq) in entries.iter().zip(before.seq + 1..) {
        link = if is_one { after.link } else { linker.link(&link, entry) };
        PagePart::add(&mut parts, PagePart::of(seq, link, entry));
    }
    parts
}

pub(crate) struct StoredPage {
    pub(crate) first: Seq,
    key: Vec<u8>,
    value: Vec<u8>,
    is_proven: bool,
}

impl StoredPage {
    pub(crate) fn read(&self) -> Result<PageBody<'_>, StoreError> {
        let page = if self.is_proven {
            read_body(record::without_check(&self.value))
        } else {
            read_page(&self.key, &self.value)
        };
        page.at(self.first)
    }

    pub(crate) fn next(&self, page: &PageBody<'_>) -> Seq {
        self.first.saturating_add(page.records.len() as u64)
    }
}

impl Records {
    /// Finds the last page that begins at or before `seq`, but not before `least`.
    pub(crate) fn page_at(
        &self,
        branch_id: u64,
        least: Seq,
        seq: Seq,
    ) -> Result<Option<StoredPage>, StoreError> {
        let range = key::of_page(branch_id, least)..key::of_page(branch_id, seq.saturating_add(1));
        let Some((key, value)) = self.backend.last(&range)? else { return Ok(None) };
        let first = key::seq_of(&key).ok_or_else(|| StoreError::damaged("a page has no proper key"))?;
        Ok(Some(StoredPage { first, key, value, is_proven: self.backend.is_proven() }))
    }
}

pub(crate) fn read_page<'a>(key: &[u8], value: &'a [u8]) -> Result<PageBody<'a>, StoreError> {
    read_body(record::checked("its page", key, value)?)
}

fn read_body(body: &[u8]) -> Result<PageBody<'_>, StoreError> {
    let page: PageBody<'_> =
        decode_data(body).map_err(|error| StoreError::damaged(format!("its page: {error}")))?;
    if page.version != VERSION || page.records.is_empty() {
        let reason = format!("its page has version {} and {} entries", page.version, page.records.len());
        return Err(StoreError::damaged(reason));
    }
    Ok(page)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(sizes: &[usize], expected: &[usize]) {
        let records: Vec<_> = sizes.iter().map(|&size| vec![7; size]).collect();
        let entries: Vec<_> = records.iter().map(Vec::as_slice).collect();
        let (mut linker, before) = (Linker::new(), Head { seq: 3, link: Digest::new([0; 32]) });
        let link = entries.iter().fold(before.link, |link, entry| linker.link(&link, entry));
        let after = Head { seq: 3 + entries.len() as u64, link };
        let parts = cut(before, after, &entries);
        assert_eq!(parts.iter().map(|part| part.count).collect::<Vec<_>>(), expected);
        assert_eq!(parts.last().unwrap().link, link);
        assert!(parts.windows(2).all(|pair| pair[0].next() == pair[1].first));
    }

    #[test]
    fn a_part_is_written_as_the_page_that_it_is() {
        let entries: Vec<_> = [3, 0, 200].map(|size| vec![7; size]).into();
        let entries: Vec<_> = entries.iter().map(Vec::as_slice).collect();
        let link = Digest::new([5; 32]);
        let head = |seq| Head { seq, link };
        let part = cut(head(8), head(11), &entries).remove(0);
        let page = PageBody { version: VERSION, link, records: entries };
        let RecordChange { key, value } = part.clone().put(4);
        assert_eq!(value, record::put(key.clone(), &page).value);
        assert_eq!(PagePart::read(&key, &value.unwrap()).unwrap(), part);
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
