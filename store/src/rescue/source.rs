//! A branch of a damaged store: where it begins, and how far it can be read.

use std::collections::BTreeMap;

use turnfold_core::Digest;

use crate::entry::Seq;
use crate::error::StoreError;
use crate::layout::chain::Linker;
use crate::layout::record::HeadRecord;
use crate::layout::{chain, key};
use crate::names::{BranchName, MatchName};
use crate::open::Shared;
use crate::reader::lookup::{FoundBranch, FoundMatch};
use crate::reader::segment::read_page;

/// How far branches can be saved, and their names, by their ids.
pub(super) type Ends = BTreeMap<u64, (BranchName, Seq)>;

/// A branch as the damaged store has it.
pub(super) struct Source {
    pub(super) match_name: MatchName,
    pub(super) found_match: FoundMatch,
    pub(super) name: BranchName,
    pub(super) found: FoundBranch,
    /// The last entry there should be, and the link after it, where the head can be read.
    pub(super) head: Option<HeadRecord>,
}

/// How far a branch can be read.
pub(super) struct Reach {
    /// The last entry that could be read, and the link after it.
    pub(super) seq: Seq,
    pub(super) link: Digest,
    pub(super) error: Option<StoreError>,
}

/// Where a branch can begin.
pub(super) struct Fork {
    pub(super) parent: Option<(BranchName, Seq)>,
    pub(super) at: Seq,
    /// Whether that is where it began.
    pub(super) is_whole: bool,
}

impl Source {
    /// Finds where the branch can begin; `ends` has how far those before it can be saved.
    pub(super) fn fork(&self, old: &Shared, ends: &Ends) -> Result<Fork, String> {
        let Some(parent) = &self.found.parent else {
            return Ok(Fork { parent: None, at: 0, is_whole: true });
        };
        let Some((name, end)) = ends.get(&parent.id) else {
            return Err(format!("the branch `{}` it begins on is lost", parent.name));
        };
        let name = name.clone();
        if *end < parent.at {
            return Ok(Fork { parent: Some((name, *end)), at: *end, is_whole: false });
        }
        let link = self.link_at(old, parent.at).map_err(StoreError::reason)?;
        if link != parent.link {
            return Err("the chain of entries does not lead to where it begins".to_owned());
        }
        Ok(Fork { parent: Some((name, parent.at)), at: parent.at, is_whole: true })
    }

    /// Gives the link after an entry from before the branch.
    pub(super) fn link_at(&self, old: &Shared, at: Seq) -> Result<Digest, StoreError> {
        if at == 0 {
            return Ok(chain::genesis_link(&self.found_match.genesis));
        }
        let mut entries = self.entries(old, at, at)?;
        entries.try_for_each(|entry| entry.map(|_| ()))?;
        Ok(entries.link())
    }

    /// Reads entries; the head counts only where it can be read.
    pub(super) fn entries<'a>(
        &self,
        old: &'a Shared,
        from: Seq,
        to: Seq,
    ) -> Result<crate::Entries<'a>, StoreError> {
        let beyond = HeadRecord { seq: Seq::MAX, link: self.found.before };
        let head = self.head.unwrap_or(beyond);
        old.entries(&self.match_name, &self.found_match, (&self.name, &self.found, head), from..=to)
    }

    /// Finds how far the branch's own entries are sound.
    pub(super) fn reach(&self, old: &Shared) -> Reach {
        let to = match self.head {
            Some(head) => head.seq,
            None => last_stored(old, &self.found),
        };
        let reach = self.read_to(old, to);
        // What is wrong is not behind what was read, so a stored link within it does not agree with the chain.
        match &reach.error {
            Some(StoreError::Corrupt { seq: Some(seq), .. }) if *seq <= reach.seq => {
                let end = self.proven_before(old, *seq);
                let Reach { seq, link, .. } = self.read_to(old, end);
                Reach { seq, link, error: reach.error }
            }
            _ => reach,
        }
    }

    fn read_to(&self, old: &Shared, to: Seq) -> Reach {
        let mut reach = Reach { seq: self.found.forked_at(), link: self.found.before, error: None };
        let linker = Linker::new();
        let read = self.each(old, to, &mut |seq, bytes| {
            reach.link = linker.link(&reach.link, bytes);
            reach.seq = seq;
        });
        Reach { error: read.err(), ..reach }
    }

    fn each(&self, old: &Shared, to: Seq, visit: &mut dyn FnMut(Seq, &[u8])) -> Result<(), StoreError> {
        for entry in self.entries(old, self.found.forked_at() + 1, to)? {
            let entry = entry?;
            visit(entry.seq, &entry.encode());
        }
        Ok(())
    }

    /// Gives the last entry before `seq` that a page's link proves.
    fn proven_before(&self, old: &Shared, seq: Seq) -> Seq {
        let forked_at = self.found.forked_at();
        let found = old.page_at(self.found.id, forked_at + 1, seq.saturating_sub(1));
        let Ok(Some((first, key, value))) = found else { return forked_at };
        let held = read_page(&key, &value).map_or(0, |page| page.records.len() as u64);
        (first + held).saturating_sub(1).clamp(forked_at, seq)
    }
}

/// Gives the last entry for which there is a record.
pub(super) fn last_stored(old: &Shared, found: &FoundBranch) -> Seq {
    let forked_at = found.forked_at();
    let page = old.page_at(found.id, forked_at + 1, Seq::MAX - 1).ok().flatten();
    let paged = page.and_then(|(first, key, value)| {
        read_page(&key, &value).ok().map(|page| first.saturating_add(page.records.len() as u64 - 1))
    });
    let tail = old.backend.last(&key::tails_of(found.id)).ok().flatten();
    let tail = tail.and_then(|(key, _)| key::seq_of(&key));
    paged.max(tail).unwrap_or(forked_at).max(forked_at)
}
