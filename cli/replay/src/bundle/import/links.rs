//! Links of lines in a bundle and in the store, each found without reading the whole line.

use std::collections::BTreeMap;

use turnfold_core::Digest;
use turnfold_store::{Ancestry, BranchName, Linker, MatchName, Seq, StoreReader};

use crate::bundle::sizes::LineFinder;
use crate::bundle::{BundledLine, BundledMatch, BundledRecord, LineIndex, LineRecords, StoreRecords};
use crate::error::ReplayError;

/// The links of every line, each kept with the line that holds the record.
pub(super) struct BundledLinks<'a> {
    lines: LineFinder<'a>,
    own: Vec<Vec<Vec<Digest>>>,
}

impl<'a> BundledLinks<'a> {
    pub(super) fn read(records: &'a dyn LineRecords) -> Result<Self, ReplayError> {
        let outline = records.outline();
        let own = outline.matches.iter().map(|of| vec![Vec::new(); of.lines.len()]).collect();
        let mut links = Self { lines: LineFinder::of(outline), own };
        let linker = Linker::new();
        records.each(&mut |index, record| {
            let (BundledRecord::Shown(bytes), Some(of)) = (record, outline.matches.get(index.0)) else {
                return Ok(());
            };
            let before = links.before_next(index);
            let link = before.map_or_else(|| of.genesis.link(), |before| linker.link(&before, bytes));
            if let Some(own) = links.own.get_mut(index.0).and_then(|of| of.get_mut(index.1)) {
                own.push(link);
            }
            Ok(())
        })?;
        Ok(links)
    }

    /// Returns the link before the record that comes next on a line; `None` for the Genesis.
    fn before_next(&self, index: LineIndex) -> Option<Digest> {
        let own = self.own.get(index.0)?.get(index.1)?;
        own.last().copied().or_else(|| self.at(index, self.first(index)?.checked_sub(1)?))
    }

    /// Returns the link after an entry of a line.
    pub(super) fn at(&self, index: LineIndex, seq: Seq) -> Option<Digest> {
        let holder = self.lines.holder(index, seq)?;
        let own = self.own.get(holder.0)?.get(holder.1)?;
        own.get(usize::try_from(seq.checked_sub(self.first(holder)?)?).ok()?).copied()
    }

    fn first(&self, (of, line): LineIndex) -> Option<Seq> {
        Some(self.lines.outline.matches.get(of)?.lines.get(line)?.first)
    }
}

/// The branches of a stored match, and how they begin on each other.
pub(super) struct StoredLines<'a> {
    store: &'a StoreReader,
    of: BundledMatch,
    indexes: BTreeMap<BranchName, usize>,
    ancestry: Ancestry,
}

impl<'a> StoredLines<'a> {
    pub(super) fn of(store: &'a StoreReader, name: &MatchName) -> Result<Self, ReplayError> {
        let of = StoreRecords::of(store, std::slice::from_ref(name))?.outline().matches.first().cloned();
        let of = of.ok_or_else(|| ReplayError::Changed(name.to_string()))?;
        let (ancestry, branches) = (of.ancestry(), of.lines.iter().map(|line| line.branch.clone()));
        Ok(Self { store, indexes: branches.zip(0..).collect(), ancestry, of })
    }

    pub(super) fn line(&self, branch: &BranchName) -> Option<(usize, &BundledLine)> {
        let index = *self.indexes.get(branch)?;
        Some((index, self.of.lines.get(index)?))
    }

    /// Returns the link after an entry of a line.
    pub(super) fn link(&self, line: usize, seq: Seq) -> Result<Option<Digest>, ReplayError> {
        let Some(holder) = self.of.lines.get(self.ancestry.holder(line, seq)) else { return Ok(None) };
        if holder.size() == seq.saturating_add(1) {
            return Ok(Some(holder.link));
        }
        Ok(self.store.links(&self.of.name, &holder.branch, seq..=seq)?.pop())
    }
}
