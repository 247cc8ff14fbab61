//! A branch of a damaged store: where it begins, and how far it can be read.

use std::collections::BTreeMap;

use turnfold_core::Digest;

use crate::chain::Linker;
use crate::entry::Seq;
use crate::error::StoreError;
use crate::local::layout::key;
use crate::local::reader::records::Records;
use crate::names::BranchName;
use crate::reader::found::{FoundBranch, FoundMatch, Head};
use crate::reader::line::Line;

/// How far branches can be saved, and their names, by their ids.
pub(super) type Ends = BTreeMap<u64, (BranchName, Seq)>;

/// A branch as the damaged store has it.
pub(super) struct Source {
    /// The branch; its head is beyond all entries where it cannot be read.
    pub(super) line: Line,
    /// The last entry there should be, and the link after it, where the head can be read.
    pub(super) head: Option<Head>,
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
    /// Finds the head of a branch. A head that entries lie behind is an old one.
    pub(super) fn find(old: &Records, of: &FoundMatch, branch: FoundBranch) -> Self {
        let head = old.stored_head(&branch).ok().filter(|head| last_stored(old, &branch) <= head.seq);
        let beyond = Head { seq: Seq::MAX, link: branch.before };
        Self { line: Line { of: of.clone(), branch, head: head.unwrap_or(beyond) }, head }
    }

    /// Finds where the branch can begin; `ends` has how far those before it can be saved.
    pub(super) fn fork(&self, old: &Records, ends: &Ends) -> Result<Fork, String> {
        let Some(parent) = &self.line.branch.parent else {
            return Ok(Fork { parent: None, at: 0, is_whole: true });
        };
        let Some((name, end)) = ends.get(&parent.id) else {
            return Err(format!("the branch `{}` it begins on is lost", parent.name));
        };
        let name = name.clone();
        if *end < parent.at {
            return Ok(Fork { parent: Some((name, *end)), at: *end, is_whole: false });
        }
        let link = self.line.link_at(old, parent.at).map_err(StoreError::reason)?;
        if link != parent.link {
            return Err("the chain of entries does not lead to where it begins".to_owned());
        }
        Ok(Fork { parent: Some((name, parent.at)), at: parent.at, is_whole: true })
    }

    /// Finds how far the branch's own entries are sound.
    pub(super) fn reach(&self, old: &Records) -> Reach {
        let to = match self.head {
            Some(head) => head.seq,
            None => last_stored(old, &self.line.branch),
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

    fn read_to(&self, old: &Records, to: Seq) -> Reach {
        let mut reach =
            Reach { seq: self.line.branch.forked_at(), link: self.line.branch.before, error: None };
        let linker = Linker::new();
        let read = self.each(old, to, &mut |seq, bytes| {
            reach.link = linker.link(&reach.link, bytes);
            reach.seq = seq;
        });
        Reach { error: read.err(), ..reach }
    }

    fn each(&self, old: &Records, to: Seq, visit: &mut dyn FnMut(Seq, &[u8])) -> Result<(), StoreError> {
        for entry in self.line.entries(old, self.line.branch.forked_at() + 1..=to)? {
            let entry = entry?;
            visit(entry.seq, &entry.encode());
        }
        Ok(())
    }

    /// Returns the last entry before `seq` that a page's link proves.
    fn proven_before(&self, old: &Records, seq: Seq) -> Seq {
        let forked_at = self.line.branch.forked_at();
        let found = old.page_at(self.line.branch.id, forked_at + 1, seq.saturating_sub(1));
        let Ok(Some(stored)) = found else { return forked_at };
        let next = stored.read().map_or(stored.first, |page| stored.next(&page));
        next.saturating_sub(1).clamp(forked_at, seq)
    }
}

/// Returns the last entry for which there is a record.
pub(super) fn last_stored(old: &Records, found: &FoundBranch) -> Seq {
    let forked_at = found.forked_at();
    let page = old.page_at(found.id, forked_at + 1, Seq::MAX - 1).ok().flatten();
    let paged = page.and_then(|stored| stored.read().ok().map(|page| stored.next(&page) - 1));
    let tail = old.backend.last(&key::tails_of(found.id)).ok().flatten();
    let tail = tail.and_then(|(key, _)| key::seq_of(&key));
    paged.max(tail).unwrap_or(forked_at).max(forked_at)
}
