//! What the committer knows of a branch: its head, and the entries that are not on pages yet.

use turnfold_core::Digest;

use crate::chain::Linker;
use crate::entry::{NewEntry, Seq};
use crate::error::StoreError;
use crate::local::backend::RecordChange;
use crate::local::layout::page::{RECORDS_MAX, Unsealed};
use crate::local::layout::{key, record};
use crate::local::reader::records::Records;
use crate::names::IdempotencyKey;
use crate::reader::found::Head;
use crate::reader::line::Line;

/// What the committer knows of a branch.
pub(crate) struct BranchState {
    pub(crate) id: u64,
    pub(crate) head: Head,
    pub(crate) unsealed: Unsealed,
}

impl BranchState {
    /// A branch without entries of its own.
    pub(crate) fn new(id: u64, forked_at: Seq, link: Digest) -> Self {
        let unsealed = Unsealed { first: forked_at + 1, before: link, records: Vec::new() };
        Self { id, head: Head { seq: forked_at, link }, unsealed }
    }

    /// Reads the state of a branch.
    pub(crate) fn load(records: &Records, line: &Line) -> Result<Self, StoreError> {
        let Line { branch, head, .. } = line;
        let mut state = Self::new(branch.id, branch.forked_at(), branch.before);
        let last_page = records.page_at(branch.id, state.unsealed.first, head.seq);
        if let Some(stored) = last_page.map_err(|error| line.within(error))? {
            let page = stored.read().map_err(|error| line.within(error))?;
            state.unsealed.first = stored.next(&page);
            state.unsealed.before = page.link;
        }
        let first = state.unsealed.first;
        let is_sealed = first == head.seq + 1;
        if first > head.seq + 1 || is_sealed && state.unsealed.before != head.link {
            let error = StoreError::damaged("its last page does not end at its head");
            return Err(line.within(error.at(head.seq)));
        }
        let mut entries = line.entries(records, first..=head.seq)?;
        while let Some(linked) = entries.next_linked() {
            let (entry, after) = linked?;
            state.unsealed.records.push((entry.encode(), after));
        }
        state.head = *head;
        Ok(state)
    }

    /// Numbers entries, adds them at the end and returns the changes that store them.
    pub(crate) fn extend(
        &mut self,
        entries: Vec<NewEntry>,
        idempotency_key: Option<&IdempotencyKey>,
    ) -> Vec<RecordChange> {
        let linker = Linker::new();
        let mut changes = Vec::new();
        let fills_pages = entries.len() >= RECORDS_MAX;
        let tails_before = if fills_pages { self.tail_keys() } else { Vec::new() };
        for entry in entries {
            let seq = self.head.seq + 1;
            let bytes = entry.number(seq, idempotency_key).encode();
            self.head = Head { seq, link: linker.link(&self.head.link, &bytes) };
            if !fills_pages {
                changes.push(record::put_bytes(key::of_tail(self.id, seq), bytes.clone()));
            }
            self.unsealed.records.push((bytes, self.head.link));
        }
        if fills_pages {
            changes.extend(self.unsealed.cut_pages(self.id));
            changes.extend(tails_before.into_iter().map(|key| RecordChange { key, value: None }));
            let rest = self.tail_keys().into_iter().zip(&self.unsealed.records);
            changes.extend(rest.map(|(key, (bytes, _))| record::put_bytes(key, bytes.clone())));
        }
        changes.push(record::put(key::of_head(self.id), &self.head));
        changes
    }

    /// Returns the changes that move the first entries from tails to pages.
    pub(crate) fn seal(&mut self) -> Vec<RecordChange> {
        let tails = self.tail_keys();
        let pages = self.unsealed.cut_pages(self.id);
        self.sealed(pages, tails)
    }

    /// Returns the changes that move all entries from tails to pages.
    pub(crate) fn seal_all(&mut self) -> Vec<RecordChange> {
        let tails = self.tail_keys();
        let mut pages = self.unsealed.cut_pages(self.id);
        pages.extend(self.unsealed.cut_rest(self.id));
        self.sealed(pages, tails)
    }

    /// Adds to new pages that the tails on them go.
    fn sealed(&self, mut changes: Vec<RecordChange>, tails: Vec<Vec<u8>>) -> Vec<RecordChange> {
        let sealed = tails.len() - self.unsealed.records.len();
        changes.extend(tails.into_iter().take(sealed).map(|key| RecordChange { key, value: None }));
        changes
    }

    fn tail_keys(&self) -> Vec<Vec<u8>> {
        let seqs = self.unsealed.first..=self.head.seq;
        seqs.map(|seq| key::of_tail(self.id, seq)).collect()
    }
}
