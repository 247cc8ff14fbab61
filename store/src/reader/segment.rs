//! Segments: the parts of a line that lie on its branch and on the branches it begins on.

use turnfold_core::Digest;

use super::line::Line;
use super::records::Records;
use crate::entry::Seq;
use crate::error::StoreError;
use crate::names::BranchName;

/// A part of a line that lies on one branch, in its page and tail records.
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

impl Line {
    /// Finds the parts that make up the line up to `to`, the oldest first.
    pub(crate) fn segments(&self, records: &Records, to: Seq) -> Result<Vec<Segment>, StoreError> {
        let mut segments = Vec::new();
        let (mut branch, mut last) = (self.branch.clone(), to);
        let mut after = (to == self.head.seq).then_some(self.head.link);
        // A parent's id is less than its child's, so this ends.
        loop {
            let here = |error: StoreError| error.within(&self.of.name, Some(&branch.name));
            let forked_at = branch.forked_at();
            if last > forked_at {
                let (id, before, first) = (branch.id, branch.before, forked_at + 1);
                segments.push(Segment { branch: branch.name.clone(), id, first, last, before, after });
            }
            let Some(parent) = &branch.parent else { break };
            if parent.at <= last {
                (last, after) = (parent.at, Some(parent.link));
            }
            let Some(parent_name) = branch.parent_name().map_err(here)? else { break };
            let found = records.find_branch(&self.of, &parent_name)?;
            if found.id != parent.id {
                let reason = format!("the branch `{parent_name}` it begins on is another");
                return Err(here(StoreError::damaged(reason)));
            }
            branch = found;
        }
        segments.reverse();
        Ok(segments)
    }
}

impl Segment {
    /// Finds where reading has to begin so that `wanted` is reached along the chain, and the link before it.
    pub(crate) fn anchor(&self, records: &Records, wanted: Seq) -> Result<(Seq, Digest), StoreError> {
        let beginning = (self.first, self.before);
        if wanted <= self.first {
            return Ok(beginning);
        }
        let Some(stored) = records.page_at(self.id, self.first, wanted)? else { return Ok(beginning) };
        let page = stored.read()?;
        let next = stored.next(&page);
        if next <= wanted {
            return Ok((next, page.link));
        }
        let Some(stored) = records.page_at(self.id, self.first, stored.first.saturating_sub(1))? else {
            return Ok(beginning);
        };
        let page = stored.read()?;
        Ok((stored.next(&page), page.link))
    }
}
