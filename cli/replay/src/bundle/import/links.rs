//! Links of lines in a bundle and in the store, each found without reading the whole line.

use turnfold_core::Digest;
use turnfold_store::{Linker, Seq, StoreReader};

use crate::bundle::sizes::LineFinder;
use crate::bundle::{BundledRecord, LineIndex, LineRecords};
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

/// Returns the link after an entry of a line of a stored match, whose lines these are.
pub(super) fn stored_link(
    store: &StoreReader,
    lines: &LineFinder<'_>,
    line: usize,
    seq: Seq,
) -> Result<Option<Digest>, ReplayError> {
    let holder = lines.holder((0, line), seq).and_then(|(_, holder)| {
        let of = lines.outline.matches.first()?;
        Some((of, of.lines.get(holder)?))
    });
    let Some((of, holder)) = holder else { return Ok(None) };
    if holder.size() == seq.saturating_add(1) {
        return Ok(Some(holder.link));
    }
    Ok(store.links(&of.name, &holder.branch, seq..=seq)?.pop())
}
