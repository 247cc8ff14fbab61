//! A branch's entries on their pages and in the tails after them.

use turnfold_core::Digest;

use super::records::Records;
use crate::engine::Packed;
use crate::entry::Seq;
use crate::error::StoreError;
use crate::local::layout::page::RECORDS_MAX;
use crate::local::layout::{key, record};
use crate::reader::line::Own;

/// What takes entries that lie together.
type Take<'a> = &'a mut dyn FnMut(&Packed<'_>) -> Result<(), StoreError>;

impl Records {
    /// Hands on the page that holds an entry, or the tails from it on.
    pub(super) fn packed(&self, own: Own, from: Seq, take: Take<'_>) -> Result<(), StoreError> {
        if self.packed_on_page(own, from, take)? || self.packed_tails(own, from, take)? {
            return Ok(());
        }
        // Between our looking for a page and for a tail, the tail may have been moved to a page.
        self.packed_on_page(own, from, take).map(|_| ())
    }

    /// Hands on the page that holds an entry; returns `true` if there is one.
    fn packed_on_page(&self, own: Own, from: Seq, take: Take<'_>) -> Result<bool, StoreError> {
        let found = self.page_at(own.branch, own.first, from).map_err(|error| error.at(from))?;
        let Some(stored) = found else { return Ok(false) };
        let page = stored.read()?;
        if stored.next(&page) <= from {
            return Ok(false);
        }
        let (first, after) = (stored.first, Some(page.link));
        take(&Packed { first, before: None, records: page.records, after })?;
        Ok(true)
    }

    /// Hands on the tails from an entry on; returns `true` if there are any.
    fn packed_tails(&self, own: Own, from: Seq, take: Take<'_>) -> Result<bool, StoreError> {
        let range = key::of_tail(own.branch, from)..key::of_tail(own.branch, own.last.saturating_add(1));
        let found = self.backend.scan(&range, RECORDS_MAX);
        let found = found.map_err(|error| StoreError::from(error).at(from))?;
        let (mut records, mut damaged) = (Vec::new(), None);
        for ((key, value), seq) in found.iter().zip(from..) {
            if key::seq_of(key) != Some(seq) {
                break;
            }
            match record::body_of(key, value) {
                Ok(body) => records.push(body),
                Err(reason) => {
                    damaged = Some(StoreError::damaged(reason).at(seq));
                    break;
                }
            }
        }
        let any = !records.is_empty();
        take(&Packed { first: from, before: None, records, after: None })?;
        damaged.map_or(Ok(any), Err)
    }

    /// Finds the page or the beginning from which reading leads to an entry, and the link before it.
    pub(super) fn anchor_on_page(
        &self,
        own: Own,
        before: Digest,
        wanted: Seq,
    ) -> Result<(Seq, Digest), StoreError> {
        let beginning = (own.first, before);
        if wanted <= own.first {
            return Ok(beginning);
        }
        let Some(stored) = self.page_at(own.branch, own.first, wanted)? else { return Ok(beginning) };
        let page = stored.read()?;
        let next = stored.next(&page);
        if next <= wanted {
            return Ok((next, page.link));
        }
        let Some(stored) = self.page_at(own.branch, own.first, stored.first.saturating_sub(1))? else {
            return Ok(beginning);
        };
        let page = stored.read()?;
        Ok((stored.next(&page), page.link))
    }
}
