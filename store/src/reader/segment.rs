//! Segments: the parts of a branch's line that lie on it and on the branches it begins on.

use turnfold_core::Digest;

use super::lookup::{FoundBranch, FoundMatch};
use crate::entry::Seq;
use crate::error::StoreError;
use crate::layout::page::{self, Page};
use crate::layout::record::HeadRecord;
use crate::layout::{key, record};
use crate::names::{BranchName, MatchName};
use crate::open::Shared;
use crate::writer::append::BranchState;

/// A part of a branch that lies together, from its page and tail records.
#[derive(Debug)]
pub(crate) struct Segment {
    pub(crate) branch: BranchName,
    pub(crate) id: u64,
    pub(crate) first: Seq,
    pub(crate) last: Seq,
    /// The link before the branch's first own entry.
    pub(crate) before: Digest,
    /// What the chain must lead to after the last entry, where something says so.
    pub(crate) after: Option<Digest>,
}

/// A branch with its name and head.
pub(crate) type NamedBranch<'a> = (&'a BranchName, &'a FoundBranch, HeadRecord);

/// A page's first seq, key and value.
type FoundPage = (Seq, Vec<u8>, Vec<u8>);

impl Shared {
    /// Finds the parts that make up a branch up to `to`, the oldest first.
    pub(crate) fn segments(
        &self,
        match_name: &MatchName,
        found_match: &FoundMatch,
        (name, branch, head): NamedBranch<'_>,
        to: Seq,
    ) -> Result<Vec<Segment>, StoreError> {
        let mut segments = Vec::new();
        let (mut name, mut branch, mut last) = (name.clone(), branch.clone(), to);
        let mut after = (to == head.seq).then_some(head.link);
        // A parent's id is less than its child's, so this ends.
        loop {
            let forked_at = branch.forked_at();
            if last > forked_at {
                let (id, before, first) = (branch.id, branch.before, forked_at + 1);
                segments.push(Segment { branch: name.clone(), id, first, last, before, after });
            }
            let Some(parent) = branch.parent else { break };
            if parent.at <= last {
                (last, after) = (parent.at, Some(parent.link));
            }
            let parent_name = parent.name.parse::<BranchName>();
            let parent_name = parent_name.map_err(|error| StoreError::damaged(error.to_string()));
            let parent_name = parent_name.map_err(|error| error.within(match_name, Some(&name)))?;
            branch = self.find_branch(match_name, found_match, &parent_name)?;
            if branch.id != parent.id {
                let error =
                    StoreError::damaged(format!("the branch `{parent_name}` it begins on is another"));
                return Err(error.within(match_name, Some(&name)));
            }
            name = parent_name;
        }
        segments.reverse();
        Ok(segments)
    }

    /// Finds where reading has to begin so that `wanted` is reached along the chain, and the link before it.
    pub(crate) fn anchor(&self, segment: &Segment, wanted: Seq) -> Result<(Seq, Digest), StoreError> {
        let beginning = (segment.first, segment.before);
        if wanted <= segment.first {
            return Ok(beginning);
        }
        let Some((first, key, value)) = self.page_at(segment.id, segment.first, wanted)? else {
            return Ok(beginning);
        };
        let page = read_page(&key, &value).map_err(|error| error.at(first))?;
        let next = first.saturating_add(page.records.len() as u64);
        if next <= wanted {
            return Ok((next, page.link));
        }
        let Some((before, key, value)) = self.page_at(segment.id, segment.first, first.saturating_sub(1))?
        else {
            return Ok(beginning);
        };
        let page = read_page(&key, &value).map_err(|error| error.at(before))?;
        Ok((before.saturating_add(page.records.len() as u64), page.link))
    }

    /// Gives the last page that begins at `seq` or before, but not before `least`, as first seq, key and value.
    pub(crate) fn page_at(
        &self,
        branch_id: u64,
        least: Seq,
        seq: Seq,
    ) -> Result<Option<FoundPage>, StoreError> {
        let range = key::of_page(branch_id, least)..key::of_page(branch_id, seq.saturating_add(1));
        let Some((key, value)) = self.backend.last(&range)? else { return Ok(None) };
        let first = key::seq_of(&key).ok_or_else(|| StoreError::damaged("a page has no proper key"))?;
        Ok(Some((first, key, value)))
    }

    /// Gives the link after entry `at` of a branch, which has that many.
    pub(crate) fn link_at(
        &self,
        match_name: &MatchName,
        branch: &BranchName,
        at: Seq,
    ) -> Result<Digest, StoreError> {
        let (found_match, found, head) = self.find(match_name, branch)?;
        if at == 0 {
            return Ok(crate::layout::chain::genesis_link(&found_match.genesis));
        }
        let mut entries = self.entries(match_name, &found_match, (branch, &found, head), at..=at)?;
        entries.try_for_each(|entry| entry.map(|_| ()))?;
        Ok(entries.link())
    }

    /// Reads what the committer has to know of a branch.
    pub(crate) fn load_branch(
        &self,
        match_name: &MatchName,
        name: &BranchName,
    ) -> Result<BranchState, StoreError> {
        let (found_match, found, head) = self.find(match_name, name)?;
        let here = |error: StoreError| error.within(match_name, Some(name));
        let mut state = BranchState::new(found.id, found.forked_at(), found.before);
        let last_page = self.page_at(found.id, state.unsealed.first, head.seq).map_err(here)?;
        if let Some((first, key, value)) = last_page {
            let page = read_page(&key, &value).map_err(|error| here(error.at(first)))?;
            state.unsealed.first = first.saturating_add(page.records.len() as u64);
            state.unsealed.before = page.link;
        }
        let first = state.unsealed.first;
        let is_sealed = first == head.seq + 1;
        if first > head.seq + 1 || is_sealed && state.unsealed.before != head.link {
            return Err(here(StoreError::damaged("its last page does not end at its head").at(head.seq)));
        }
        let entries = self.entries(match_name, &found_match, (name, &found, head), first..=head.seq)?;
        let records: Result<Vec<_>, _> = entries.map(|entry| entry.map(|entry| entry.encode())).collect();
        state.unsealed.records = records?;
        state.head = head;
        Ok(state)
    }
}

/// Reads a page, requiring that it is one that a store would write.
pub(crate) fn read_page<'a>(key: &[u8], value: &'a [u8]) -> Result<Page<'a>, StoreError> {
    let page: Page<'_> = record::read("its page", key, value)?;
    if page.version != page::VERSION || page.records.is_empty() {
        let reason = format!("its page has version {} and {} entries", page.version, page.records.len());
        return Err(StoreError::damaged(reason));
    }
    Ok(page)
}
