//! Lines that begin on others: which line holds a record, and where an origin's line is.

use std::collections::{BTreeMap, BTreeSet};

use turnfold_core::trust::LineOrigin;
use turnfold_store::Ancestry;

use super::outline::{BundleOutline, BundledLine, BundledMatch};
use super::records::LineIndex;
use crate::history::revision::Revision;

/// A line cut to a number of records, at least one; the line is the one whose own records end it.
pub(crate) type LineSize = (LineIndex, u64);

/// The lines of an outline, found without a walk over all of them.
pub(crate) struct LineFinder<'a> {
    pub(crate) outline: &'a BundleOutline,
    matches: Vec<MatchLines<'a>>,
    by_id: BTreeMap<[u8; 16], usize>,
}

/// The lines of a match.
struct MatchLines<'a> {
    ancestry: Ancestry,
    by_branch: BTreeMap<&'a str, usize>,
}

impl<'a> MatchLines<'a> {
    fn of(of: &'a BundledMatch) -> Self {
        let branches = of.lines.iter().map(|line| line.branch.as_str());
        Self { ancestry: of.ancestry(), by_branch: branches.zip(0..).collect() }
    }
}

impl<'a> LineFinder<'a> {
    pub(crate) fn of(outline: &'a BundleOutline) -> Self {
        let ids = outline.matches.iter().map(|of| of.genesis.match_id);
        let matches = outline.matches.iter().map(MatchLines::of).collect();
        Self { outline, matches, by_id: ids.zip(0..).collect() }
    }

    /// Returns the line whose own records end another one that is cut.
    pub(crate) fn cut(&self, (of, line): LineIndex, size: u64) -> Option<LineSize> {
        let last = size.checked_sub(1)?;
        let is_there = self.outline.matches.get(of)?.lines.get(line).is_some_and(|line| size <= line.size());
        is_there.then(|| self.holder((of, line), last).map(|holder| (holder, size)))?
    }

    /// Returns the line that holds a record of a line as its own.
    pub(crate) fn holder(&self, (of, line): LineIndex, index: u64) -> Option<LineIndex> {
        Some((of, self.matches.get(of)?.ancestry.holder(line, index)))
    }

    /// Returns the lines that hold the first records of a line as their own, from `main` on, each with the number of records
    /// up to which it counts.
    pub(crate) fn parts(&self, (of, line): LineIndex, size: u64) -> Vec<LineSize> {
        let (mut parts, mut next) = (Vec::new(), Some(((of, line), size)));
        while let Some(((of, line), size)) = next {
            parts.push(((of, line), size));
            let first = self.outline.matches.get(of).and_then(|of| of.lines.get(line)).map(|line| line.first);
            next = first
                .and_then(|first| Some((self.holder((of, line), first.checked_sub(1)?)?, first.min(size))));
        }
        parts.reverse();
        parts
    }

    /// Returns how many records a line has.
    pub(crate) fn size(&self, (of, line): LineIndex) -> u64 {
        let found = self.outline.matches.get(of).and_then(|of| of.lines.get(line));
        found.map_or(0, BundledLine::size)
    }

    /// Returns the sizes at which something is to be kept.
    pub(crate) fn cuts(&self, wanted: &[(LineIndex, u64)]) -> BTreeSet<LineSize> {
        wanted.iter().filter_map(|(line, size)| self.cut(*line, *size)).collect()
    }

    /// Returns the sizes at which lines begin on others, and how many begin there.
    pub(crate) fn forks(&self) -> BTreeMap<LineSize, u64> {
        let mut forks = BTreeMap::new();
        for (of, found) in self.outline.matches.iter().enumerate() {
            for line in 0..found.lines.len() {
                if let Some(fork) = self.fork((of, line)) {
                    *forks.entry(fork).or_default() += 1;
                }
            }
        }
        forks
    }

    /// Returns where a line begins on another.
    pub(crate) fn fork(&self, (of, line): LineIndex) -> Option<LineSize> {
        let found = self.outline.matches.get(of)?.lines.get(line)?;
        self.cut((of, found.parent?), found.first)
    }

    /// Finds a line of a match by its branch.
    pub(crate) fn line(&self, of: usize, branch: &str) -> Option<usize> {
        self.matches.get(of)?.by_branch.get(branch).copied()
    }

    /// Finds a match by its id.
    pub(crate) fn match_of(&self, id: &[u8; 16]) -> Option<usize> {
        self.by_id.get(id).copied()
    }

    /// Finds the line that an origin names, under whatever key (TR-4).
    pub(crate) fn line_of(&self, origin: &str) -> Option<LineIndex> {
        let LineOrigin { match_id, branch, .. } = LineOrigin::read(origin)?;
        let of = self.match_of(&match_id)?;
        Some((of, self.line(of, branch)?))
    }
}

/// Names a line.
pub(crate) fn revision(outline: &BundleOutline, (of, line): LineIndex) -> Option<Revision> {
    let of = outline.matches.get(of)?;
    let branch = of.lines.get(line)?.branch.clone();
    Some(Revision { match_name: of.name.clone(), branch, seq: None })
}
