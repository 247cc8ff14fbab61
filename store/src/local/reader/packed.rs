//! A branch's entries on their pages.

use turnfold_core::Digest;

use super::records::Records;
use crate::engine::Packed;
use crate::entry::Seq;
use crate::error::StoreError;
use crate::reader::line::Own;

/// What takes entries that lie together.
type Take<'a> = &'a mut dyn FnMut(&Packed<'_>) -> Result<(), StoreError>;

impl Records {
    /// Hands on the page that holds an entry, if there is one.
    pub(super) fn packed(&self, own: Own, from: Seq, take: Take<'_>) -> Result<(), StoreError> {
        let found = self.page_at(own.branch, own.first, from).map_err(|error| error.at(from))?;
        let Some(stored) = found else { return Ok(()) };
        let page = stored.read()?;
        if stored.next(&page) <= from {
            return Ok(());
        }
        let (first, after) = (stored.first, Some(page.link));
        take(&Packed { first, before: None, records: page.records, after })
    }

    /// Finds the page or the beginning from which reading leads to an entry, and the link before it.
    pub(super) fn anchor_on_page(
        &self,
        own: Own,
        before: Digest,
        wanted: Seq,
    ) -> Result<(Seq, Digest), StoreError> {
        let mut from = wanted;
        while let Some(stored) = self.page_at(own.branch, own.first, from)?.filter(|_| wanted > own.first) {
            let page = stored.read()?;
            let next = stored.next(&page);
            // While a head is packed a page may hold entries of the one behind it, too.
            if next <= wanted {
                return Ok((next, page.link));
            }
            let Some(before) = stored.first.checked_sub(1) else { break };
            from = before;
        }
        Ok((own.first, before))
    }
}
