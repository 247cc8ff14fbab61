//! Links of branches in a bundle and in the store, found without reading a whole branch.

use turnfold_core::Digest;
use turnfold_store::{Linker, Seq, StoreReader};

use crate::bundle::sizes::BranchFinder;
use crate::bundle::{BranchIndex, BundleRecords, BundledRecord};
use crate::error::ProofError;

/// The links of all records, each kept with the branch whose own record it is.
pub(super) struct BundledLinks<'a> {
    branches: BranchFinder<'a>,
    own: Vec<Vec<Vec<Digest>>>,
}

impl<'a> BundledLinks<'a> {
    pub(super) fn read(records: &'a dyn BundleRecords) -> Result<Self, ProofError> {
        let outline = records.outline();
        let own = outline.matches.iter().map(|bundled| vec![Vec::new(); bundled.branches.len()]).collect();
        let mut links = Self { branches: BranchFinder::of(outline), own };
        let linker = Linker::new();
        records.each(&mut |index, record| {
            let (BundledRecord::Shown(bytes, _), Some(bundled)) = (record, outline.matches.get(index.0))
            else {
                return Ok(());
            };
            let before = links.before_next(index);
            let link = before.map_or_else(|| bundled.genesis.link(), |before| linker.link(&before, bytes));
            if let Some(own) = links.own.get_mut(index.0).and_then(|bundled| bundled.get_mut(index.1)) {
                own.push(link);
            }
            Ok(())
        })?;
        Ok(links)
    }

    /// Returns the link before the next record of a branch; `None` for the Genesis.
    fn before_next(&self, index: BranchIndex) -> Option<Digest> {
        let own = self.own.get(index.0)?.get(index.1)?;
        own.last().copied().or_else(|| self.at(index, self.first(index)?.checked_sub(1)?))
    }

    /// Returns the link after an entry of a branch.
    pub(super) fn at(&self, index: BranchIndex, seq: Seq) -> Option<Digest> {
        let holder = self.branches.holder(index, seq)?;
        let own = self.own.get(holder.0)?.get(holder.1)?;
        own.get(usize::try_from(seq.checked_sub(self.first(holder)?)?).ok()?).copied()
    }

    fn first(&self, (match_index, branch): BranchIndex) -> Option<Seq> {
        Some(self.branches.outline.matches.get(match_index)?.branches.get(branch)?.first)
    }
}

/// Returns the link after an entry of a branch of a stored match; `branches` are those of the match.
pub(super) fn stored_link(
    store: &StoreReader,
    branches: &BranchFinder<'_>,
    branch: usize,
    seq: Seq,
) -> Result<Option<Digest>, ProofError> {
    let holder = branches.holder((0, branch), seq).and_then(|(_, holder)| {
        let bundled = branches.outline.matches.first()?;
        Some((bundled, bundled.branches.get(holder)?))
    });
    let Some((bundled, holder)) = holder else { return Ok(None) };
    if holder.size() == seq.saturating_add(1) {
        return Ok(Some(holder.link));
    }
    Ok(store.links(&bundled.name, &holder.name, seq..=seq)?.pop())
}
