//! The Merkle trees of branches, grown while their records are read (TR-2, TR-3).

use std::collections::{BTreeMap, BTreeSet};

use turnfold_core::trust::{Tree, TreeHash};

use super::records::{BranchIndex, BundledRecord};
use super::sizes::{BranchFinder, BranchSize};
use crate::error::ProofError;

/// The trees of branches while their records are read, and their roots at the wanted sizes.
pub(crate) struct BranchTrees<'a> {
    branches: &'a BranchFinder<'a>,
    wanted: BTreeSet<BranchSize>,
    forks: BTreeMap<BranchSize, u64>,
    kept: BTreeMap<BranchSize, Tree>,
    roots: BTreeMap<BranchSize, TreeHash>,
    current: Option<(BranchIndex, Tree)>,
}

impl<'a> BranchTrees<'a> {
    pub(crate) fn of(branches: &'a BranchFinder<'a>, wanted: &[(BranchIndex, u64)]) -> Self {
        let wanted = branches.cuts(wanted);
        let forks = branches.forks();
        Self { branches, wanted, forks, kept: BTreeMap::new(), roots: BTreeMap::new(), current: None }
    }

    /// Takes the next record, in the order of the outline.
    pub(crate) fn take(&mut self, branch: BranchIndex, record: BundledRecord<'_>) -> Result<(), ProofError> {
        let mut tree = match self.current.take() {
            Some((current, tree)) if current == branch => tree,
            _ => self.begin(branch)?,
        };
        tree.push(record.leaf());
        let at = (branch, tree.size());
        if self.wanted.contains(&at) {
            self.roots.insert(at, tree.root());
        }
        if self.forks.contains_key(&at) {
            self.kept.insert(at, tree.clone());
        }
        self.current = Some((branch, tree));
        Ok(())
    }

    fn begin(&self, branch: BranchIndex) -> Result<Tree, ProofError> {
        if branch.1 == 0 {
            return Ok(Tree::default());
        }
        let tree = self.branches.fork(branch).and_then(|fork| self.kept.get(&fork));
        tree.cloned().ok_or_else(|| ProofError::Changed("the bundle".into()))
    }

    /// Returns the root of a branch at a wanted size, once the records have been read.
    pub(crate) fn root(&self, branch: BranchIndex, size: u64) -> Option<TreeHash> {
        if size == 0 {
            return Some(Tree::default().root());
        }
        self.roots.get(&self.branches.cut(branch, size)?).copied()
    }
}
