//! Links of branches in a bundle and in the store, found without reading a whole branch.

use std::collections::BTreeMap;

use turnfold_core::Digest;
use turnfold_store::{Linker, Seq, StoreReader};

use crate::bundle::sizes::BranchFinder;
use crate::bundle::{BranchIndex, BundleRecords, BundledRecord};
use crate::error::ProofError;

/// The links of all records, each kept with the branch whose own record it is.
pub(super) struct BundledLinks<'a> {
    branches: BranchFinder<'a>,
    own: BTreeMap<BranchIndex, Vec<Digest>>,
}

impl<'a> BundledLinks<'a> {
    pub(super) fn read(records: &'a dyn BundleRecords) -> Result<Self, ProofError> {
        let outline = records.outline();
        let mut links = Self { branches: BranchFinder::of(outline), own: BTreeMap::new() };
        let mut linker = Linker::new();
        records.each(&mut |index, record| {
            let (BundledRecord::Shown(bytes, _), Some(bundled)) = (record, outline.matches.get(index.0))
            else {
                return Ok(());
            };
            let link = match links.before_next(index) {
                None => bundled.genesis.link(),
                Some(before) => linker.link(&before, bytes),
            };
            links.own.entry(index).or_default().push(link);
            Ok(())
        })?;
        Ok(links)
    }

    /// Returns the link before the next record of a branch; `None` for the Genesis.
    fn before_next(&self, index: BranchIndex) -> Option<Digest> {
        if let Some(own) = self.own.get(&index) {
            return own.last().copied();
        }
        self.at(index, self.first(index)?.checked_sub(1)?)
    }

    pub(super) fn at(&self, index: BranchIndex, seq: Seq) -> Option<Digest> {
        let holder = self.branches.holder(index, seq)?;
        let own = self.own.get(&holder)?;
        own.get(usize::try_from(seq.checked_sub(self.first(holder)?)?).ok()?).copied()
    }

    fn first(&self, branch: BranchIndex) -> Option<Seq> {
        Some(self.branches.outline.branch(branch)?.first)
    }
}

/// Returns the link after an entry of a branch of a stored match; `branches` are those of the match.
pub(super) fn stored_link(
    store: &StoreReader,
    branches: &BranchFinder<'_>,
    branch: usize,
    seq: Seq,
) -> Result<Option<Digest>, ProofError> {
    let Some(bundled) = branches.outline.matches.first() else { return Ok(None) };
    let Some((_, holder)) = branches.holder((0, branch), seq) else { return Ok(None) };
    let Some(holder) = bundled.branches.get(holder) else { return Ok(None) };
    if holder.size() == seq.saturating_add(1) {
        return Ok(Some(holder.link));
    }
    Ok(store.links(&bundled.name, &holder.name, seq..=seq)?.pop())
}
