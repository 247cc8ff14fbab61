//! Branches that begin on others: which one holds a record, and where an origin's branch is.

use std::collections::{BTreeMap, BTreeSet};

use turnfold_core::trust::BranchOrigin;
use turnfold_store::Ancestry;

use super::outline::{BundleOutline, BundledBranch, BundledMatch};
use super::records::BranchIndex;
use crate::history::revision::Revision;

/// A branch cut to a number of records, at least one; the branch is the one whose own records end it.
pub(crate) type BranchSize = (BranchIndex, u64);

/// The branches of an outline, found without a walk over all of them.
pub(crate) struct BranchFinder<'a> {
    pub(crate) outline: &'a BundleOutline,
    matches: Vec<MatchBranches<'a>>,
    by_id: BTreeMap<[u8; 16], usize>,
}

/// The branches of a match.
struct MatchBranches<'a> {
    ancestry: Ancestry,
    by_branch: BTreeMap<&'a str, usize>,
}

impl<'a> MatchBranches<'a> {
    fn of(of: &'a BundledMatch) -> Self {
        let branches = of.branches.iter().map(|branch| branch.name.as_str());
        Self { ancestry: of.ancestry(), by_branch: branches.zip(0..).collect() }
    }
}

impl<'a> BranchFinder<'a> {
    pub(crate) fn of(outline: &'a BundleOutline) -> Self {
        let ids = outline.matches.iter().map(|of| of.genesis.match_id);
        let matches = outline.matches.iter().map(MatchBranches::of).collect();
        Self { outline, matches, by_id: ids.zip(0..).collect() }
    }

    /// Returns the branch whose own records end another one that is cut.
    pub(crate) fn cut(&self, (of, branch): BranchIndex, size: u64) -> Option<BranchSize> {
        let last = size.checked_sub(1)?;
        let is_there =
            self.outline.matches.get(of)?.branches.get(branch).is_some_and(|branch| size <= branch.size());
        is_there.then(|| self.holder((of, branch), last).map(|holder| (holder, size)))?
    }

    /// Returns the branch that holds a record of a branch as its own.
    pub(crate) fn holder(&self, (of, branch): BranchIndex, index: u64) -> Option<BranchIndex> {
        Some((of, self.matches.get(of)?.ancestry.holder(branch, index)))
    }

    /// Returns the branches that hold the first records of a branch as their own, from `main` on, each with the number of records
    /// up to which it counts.
    pub(crate) fn parts(&self, (of, branch): BranchIndex, size: u64) -> Vec<BranchSize> {
        let (mut parts, mut next) = (Vec::new(), Some(((of, branch), size)));
        while let Some(((of, branch), size)) = next {
            parts.push(((of, branch), size));
            let first = self
                .outline
                .matches
                .get(of)
                .and_then(|of| of.branches.get(branch))
                .map(|branch| branch.first);
            next = first
                .and_then(|first| Some((self.holder((of, branch), first.checked_sub(1)?)?, first.min(size))));
        }
        parts.reverse();
        parts
    }

    /// Returns how many records a branch has.
    pub(crate) fn size(&self, (of, branch): BranchIndex) -> u64 {
        let found = self.outline.matches.get(of).and_then(|of| of.branches.get(branch));
        found.map_or(0, BundledBranch::size)
    }

    /// Returns the sizes at which something is to be kept.
    pub(crate) fn cuts(&self, wanted: &[(BranchIndex, u64)]) -> BTreeSet<BranchSize> {
        wanted.iter().filter_map(|(branch, size)| self.cut(*branch, *size)).collect()
    }

    /// Returns the sizes at which branches begin on others, and how many begin there.
    pub(crate) fn forks(&self) -> BTreeMap<BranchSize, u64> {
        let mut forks = BTreeMap::new();
        for (of, found) in self.outline.matches.iter().enumerate() {
            for branch in 0..found.branches.len() {
                if let Some(fork) = self.fork((of, branch)) {
                    *forks.entry(fork).or_default() += 1;
                }
            }
        }
        forks
    }

    /// Returns where a branch begins on another.
    pub(crate) fn fork(&self, (of, branch): BranchIndex) -> Option<BranchSize> {
        let found = self.outline.matches.get(of)?.branches.get(branch)?;
        self.cut((of, found.parent?), found.first)
    }

    /// Finds a branch of a match by its name.
    pub(crate) fn branch(&self, of: usize, branch: &str) -> Option<usize> {
        self.matches.get(of)?.by_branch.get(branch).copied()
    }

    /// Finds a match by its id.
    pub(crate) fn match_of(&self, id: &[u8; 16]) -> Option<usize> {
        self.by_id.get(id).copied()
    }

    /// Finds the branch that an origin names, under whatever key (TR-4).
    pub(crate) fn branch_of(&self, origin: &str) -> Option<BranchIndex> {
        let BranchOrigin { match_id, branch, .. } = BranchOrigin::read(origin)?;
        let of = self.match_of(&match_id)?;
        Some((of, self.branch(of, branch)?))
    }
}

/// Names a branch.
pub(crate) fn revision(outline: &BundleOutline, (of, branch): BranchIndex) -> Option<Revision> {
    let of = outline.matches.get(of)?;
    let branch = of.branches.get(branch)?.name.clone();
    Some(Revision { match_name: of.name.clone(), branch, seq: None })
}
