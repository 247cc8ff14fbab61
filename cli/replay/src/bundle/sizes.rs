//! Lines that begin on others: whose own records a size ends in.

use std::collections::{BTreeMap, BTreeSet};

use turnfold_core::trust::{Tree, TreeHash};

use super::outline::BundleOutline;
use super::records::LineIndex;
use crate::revision::Revision;

/// A line cut to so many records, at least one; the line is the one whose own records end it.
pub(crate) type LineSize = (LineIndex, u64);

/// Returns the line whose own records end another one that is cut.
pub(crate) fn cut(outline: &BundleOutline, (of, line): LineIndex, size: u64) -> Option<LineSize> {
    let found = outline.matches.get(of)?;
    let is_there = size > 0 && found.lines.get(line).is_some_and(|line| size <= line.size());
    is_there.then(|| ((of, found.owner(line, size)), size))
}

/// Returns the sizes at which something is to be kept.
pub(crate) fn cuts(outline: &BundleOutline, wanted: &[(LineIndex, u64)]) -> BTreeSet<LineSize> {
    wanted.iter().filter_map(|(line, size)| cut(outline, *line, *size)).collect()
}

/// Returns the sizes at which lines begin on others.
pub(crate) fn forks(outline: &BundleOutline) -> BTreeSet<LineSize> {
    let mut forks = BTreeSet::new();
    for (of, found) in outline.matches.iter().enumerate() {
        for line in &found.lines {
            forks.extend(line.parent.and_then(|parent| cut(outline, (of, parent), line.first)));
        }
    }
    forks
}

/// Returns the root of a line's tree at a size, among those that were kept.
pub(crate) fn root_of(
    outline: &BundleOutline,
    roots: &BTreeMap<LineSize, TreeHash>,
    line: LineIndex,
    size: u64,
) -> Option<TreeHash> {
    if size == 0 {
        return Some(Tree::default().root());
    }
    roots.get(&cut(outline, line, size)?).copied()
}

/// Names a line.
pub(crate) fn revision(outline: &BundleOutline, (of, line): LineIndex) -> Option<Revision> {
    let of = outline.matches.get(of)?;
    let branch = of.lines.get(line)?.branch.clone();
    Some(Revision { match_name: of.name.clone(), branch, seq: None })
}
