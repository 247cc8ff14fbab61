//! Finds the pages of a branch by their entries.

use super::records::Records;
use crate::entry::Seq;
use crate::error::StoreError;
use crate::local::layout::page::{self, PageBody};
use crate::local::layout::{key, record};

/// A page as it is stored.
pub(crate) struct StoredPage {
    /// The seq of its first entry.
    pub(crate) first: Seq,
    key: Vec<u8>,
    value: Vec<u8>,
}

impl StoredPage {
    pub(crate) fn read(&self) -> Result<PageBody<'_>, StoreError> {
        read_page(&self.key, &self.value).map_err(|error| error.at(self.first))
    }

    /// Returns the seq of the entry behind the page.
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
        Ok(Some(StoredPage { first, key, value }))
    }
}

/// Reads a page, and requires a known version and at least one entry.
pub(crate) fn read_page<'a>(key: &[u8], value: &'a [u8]) -> Result<PageBody<'a>, StoreError> {
    let page: PageBody<'_> = record::read("its page", key, value)?;
    if page.version != page::VERSION || page.records.is_empty() {
        let reason = format!("its page has version {} and {} entries", page.version, page.records.len());
        return Err(StoreError::damaged(reason));
    }
    Ok(page)
}
