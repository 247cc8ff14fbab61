//! Segments: the parts of a history that belong to the branch itself and to its ancestors.

use turnfold_core::Digest;

use super::branch::{Branch, Own};
use crate::engine::EngineReader;
use crate::entry::Seq;
use crate::error::StoreError;
use crate::names::BranchName;

/// The part of a history that belongs to one branch.
#[derive(Debug)]
pub(crate) struct BranchSegment {
    pub(crate) branch: BranchName,
    pub(crate) own: Own,
    /// The link before the branch's first own entry.
    pub(crate) before: Digest,
    /// The link after the last entry, if the store records it.
    pub(crate) after: Option<Digest>,
}

impl Branch {
    /// Finds the parts of the history from `from` to `to`, oldest first.
    pub(crate) fn segments(
        &self,
        engine: &dyn EngineReader,
        from: Seq,
        to: Seq,
    ) -> Result<Vec<BranchSegment>, StoreError> {
        let mut segments = Vec::new();
        let mut last = to;
        let mut after = (to == self.head.seq).then_some(self.head.link);
        // The ancestors are looked up only if entries of them are wanted, because branches may be nested deeply.
        let is_own = to < from || from > self.found.forked_at();
        let branches = if is_own {
            vec![self.found.clone()]
        } else {
            engine.ancestry(&self.found_match, &self.found)?
        };
        for branch in branches {
            let forked_at = branch.forked_at();
            if last > forked_at && last >= from {
                let own =
                    Own { match_id: self.found_match.id, branch: branch.id, first: forked_at + 1, last };
                segments.push(BranchSegment { branch: branch.name, own, before: branch.before, after });
            }
            if let Some(parent) = branch.parent.filter(|parent| parent.at <= last) {
                (last, after) = (parent.at, Some(parent.link));
            }
        }
        segments.reverse();
        Ok(segments)
    }
}
