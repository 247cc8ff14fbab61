//! Branches that begin on others: which branch owns a record, and which branch an origin names.

use std::collections::{BTreeMap, BTreeSet};

use turnfold_core::trust::BranchOrigin;
use turnfold_history::Revision;
use turnfold_store::Ancestry;

use super::outline::{BundleOutline, BundledBranch, BundledMatch};
use super::records::BranchIndex;

/// A branch cut to a number of records, at least one. It is given by the branch that owns the last of these records.
pub type BranchSize = (BranchIndex, u64);

/// An index of the branches of an outline.
pub struct BranchFinder<'a> {
    /// The outline.
    pub outline: &'a BundleOutline,
    matches: Vec<MatchBranches<'a>>,
    by_id: BTreeMap<[u8; 16], usize>,
}

struct MatchBranches<'a> {
    ancestry: Ancestry,
    by_branch: BTreeMap<&'a str, usize>,
}

impl<'a> MatchBranches<'a> {
    fn of(bundled: &'a BundledMatch) -> Self {
        let branches = bundled.branches.iter().map(|branch| branch.name.as_str());
        Self { ancestry: bundled.ancestry(), by_branch: branches.zip(0..).collect() }
    }
}

impl<'a> BranchFinder<'a> {
    /// Indexes the branches of an outline.
    #[must_use]
    pub fn of(outline: &'a BundleOutline) -> Self {
        let mut matches = Vec::new();
        let mut by_id = BTreeMap::new();
        for (index, bundled) in outline.matches.iter().enumerate() {
            matches.push(MatchBranches::of(bundled));
            by_id.insert(bundled.genesis.match_id, index);
        }
        Self { outline, matches, by_id }
    }

    pub(crate) fn cut(&self, branch: BranchIndex, size: u64) -> Option<BranchSize> {
        let last = size.checked_sub(1)?;
        if size > self.outline.branch(branch)?.size() {
            return None;
        }
        Some((self.holder(branch, last)?, size))
    }

    /// Returns the branch that owns a record of a branch.
    #[must_use]
    pub fn holder(&self, (match_index, branch): BranchIndex, index: u64) -> Option<BranchIndex> {
        Some((match_index, self.matches.get(match_index)?.ancestry.holder(branch, index)))
    }

    /// Returns the branches that own the first `size` records of a branch, from `main` on, each with the size at which the
    /// next one takes over.
    #[must_use]
    pub fn parts(&self, branch: BranchIndex, size: u64) -> Vec<BranchSize> {
        let mut at = (branch, size);
        let mut parts = vec![at];
        while let Some(BundledBranch { first, .. }) = self.outline.branch(at.0)
            && *first > 0
            && let Some(holder) = self.holder(at.0, first - 1)
        {
            at = (holder, at.1.min(*first));
            parts.push(at);
        }
        parts.reverse();
        parts
    }

    /// Returns how many records a branch has.
    #[must_use]
    pub fn size(&self, branch: BranchIndex) -> u64 {
        self.outline.branch(branch).map_or(0, BundledBranch::size)
    }

    pub(crate) fn cuts(&self, wanted: &[(BranchIndex, u64)]) -> BTreeSet<BranchSize> {
        wanted.iter().filter_map(|(branch, size)| self.cut(*branch, *size)).collect()
    }

    /// Returns where branches begin on others, and how many begin there.
    pub(crate) fn forks(&self) -> BTreeMap<BranchSize, u64> {
        let mut forks = BTreeMap::new();
        for (match_index, found) in self.outline.matches.iter().enumerate() {
            for branch in 0..found.branches.len() {
                if let Some(fork) = self.fork((match_index, branch)) {
                    *forks.entry(fork).or_default() += 1;
                }
            }
        }
        forks
    }

    pub(crate) fn fork(&self, branch: BranchIndex) -> Option<BranchSize> {
        let found = self.outline.branch(branch)?;
        self.cut((branch.0, found.parent?), found.first)
    }

    /// Finds a branch of a match by its name.
    #[must_use]
    pub fn branch(&self, match_index: usize, branch: &str) -> Option<usize> {
        self.matches.get(match_index)?.by_branch.get(branch).copied()
    }

    /// Finds a match by its id.
    #[must_use]
    pub fn match_of(&self, id: &[u8; 16]) -> Option<usize> {
        self.by_id.get(id).copied()
    }

    /// Finds the branch that an origin names, under whatever key (TR-4).
    #[must_use]
    pub fn branch_of(&self, origin: &str) -> Option<BranchIndex> {
        let BranchOrigin { match_id, branch, .. } = BranchOrigin::read(origin)?;
        let match_index = self.match_of(&match_id)?;
        Some((match_index, self.branch(match_index, branch)?))
    }
}

/// Names a branch.
#[must_use]
pub fn revision(outline: &BundleOutline, (match_index, branch): BranchIndex) -> Option<Revision> {
    let bundled = outline.matches.get(match_index)?;
    let branch = bundled.branches.get(branch)?.name.clone();
    Some(Revision { match_name: bundled.name.clone(), branch, seq: None })
}
