//! The contents of a bundle: matches, their branches, modules, checkpoints.

use std::fmt;
use std::sync::Arc;

use turnfold_core::Digest;
use turnfold_core::trust::SignedNote;
use turnfold_store::{Ancestry, BranchName, Genesis, MatchName};

use super::records::BranchIndex;

/// The first line of a bundle.
pub const TITLE: &str = "turnfold bundle 1\n";

/// The contents of a bundle without the records (TR-18).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BundleOutline {
    /// The matches, sorted by name.
    pub matches: Vec<BundledMatch>,
    /// The modules of the matches, sorted by digest.
    pub modules: Vec<BundledModule>,
    /// The checkpoints, sorted by origin, size and bytes.
    pub checkpoints: Vec<SignedNote>,
}

/// A match of a bundle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BundledMatch {
    /// Its name.
    pub name: MatchName,
    /// How it begins.
    pub genesis: Genesis,
    /// Its branches: `main`, then the others, parents first.
    pub branches: Vec<BundledBranch>,
}

/// A branch of a match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BundledBranch {
    /// Its name.
    pub name: BranchName,
    /// The index of the parent branch; `None` for `main`.
    pub parent: Option<usize>,
    /// The index of its first own record.
    pub first: u64,
    /// How many own records it has.
    pub count: u64,
    /// The link after the last.
    pub link: Digest,
    /// How many of its own records are left out.
    pub left_out: u64,
}

/// The file of a module.
#[derive(Clone, PartialEq, Eq)]
pub struct BundledModule {
    digest: Digest,
    file: Arc<[u8]>,
}

impl BundledModule {
    /// Computes the digest of a file, which no bundle states.
    #[must_use]
    pub fn of(file: Vec<u8>) -> Self {
        Self { digest: blake3::hash(&file).into(), file: file.into() }
    }

    /// Returns the digest of the file.
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// Returns the file.
    #[must_use]
    pub fn file(&self) -> &[u8] {
        &self.file
    }
}

impl fmt::Debug for BundledModule {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "module {} of {} bytes", self.digest, self.file.len())
    }
}

impl BundleOutline {
    pub(crate) fn branch(&self, (match_index, branch): BranchIndex) -> Option<&BundledBranch> {
        self.matches.get(match_index)?.branches.get(branch)
    }

    /// Returns the index of the branch that comes next; behind the last, that of a match that is not there.
    pub(crate) fn after(&self, (match_index, branch): BranchIndex) -> BranchIndex {
        let next = (match_index, branch + 1);
        if self.branch(next).is_some() { next } else { (match_index + 1, 0) }
    }
}

impl BundledBranch {
    /// Returns the number of its records, including those of its parents (TR-1).
    #[must_use]
    pub const fn size(&self) -> u64 {
        self.first.saturating_add(self.count)
    }
}

impl BundledMatch {
    pub(crate) fn parent_of(&self, branch: &BundledBranch) -> Option<&BundledBranch> {
        self.branches.get(branch.parent?)
    }

    pub(crate) fn ancestry(&self) -> Ancestry {
        let mut ancestry = Ancestry::default();
        for (index, branch) in self.branches.iter().enumerate() {
            ancestry.add(branch.parent.filter(|parent| *parent < index), branch.first);
        }
        ancestry
    }

    /// Returns `true` if records of a branch or of its parents are left out.
    #[must_use]
    pub fn left_out(&self, branch: usize) -> bool {
        let mut next = Some(branch);
        while let Some(found) = next.and_then(|branch| self.branches.get(branch)) {
            if found.left_out > 0 {
                return true;
            }
            next = found.parent;
        }
        false
    }
}
