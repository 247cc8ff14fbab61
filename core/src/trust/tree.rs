//! The tree over the records of a log: RFC 6962, section 2.1, with SHA-256 (TR-2).

use core::fmt;
use core::ops::Range;
use core::str::FromStr;

use alloc::vec::Vec;
use sha2::{Digest as _, Sha256};

use super::base64;
use crate::text::Malformed;

/// The hash of a leaf or of a tree; shown in base64.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct TreeHash([u8; 32]);

impl TreeHash {
    /// Wraps the bytes of a hash.
    #[must_use]
    pub const fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Returns the bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Returns the hash of a record's leaf.
    #[must_use]
    pub fn of_record(record: &[u8]) -> Self {
        Self(Sha256::new().chain_update([0]).chain_update(record).finalize().into())
    }

    /// Returns the hash of a node above two others.
    fn of_node(left: &Self, right: &Self) -> Self {
        Self(Sha256::new().chain_update([1]).chain_update(left.0).chain_update(right.0).finalize().into())
    }
}

impl fmt::Display for TreeHash {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(&base64::encode(&self.0))
    }
}

impl fmt::Debug for TreeHash {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

impl FromStr for TreeHash {
    type Err = Malformed;

    fn from_str(text: &str) -> Result<Self, Malformed> {
        let bytes = base64::decode(text).and_then(|bytes| bytes.try_into().ok());
        bytes.map(Self).ok_or_else(|| Malformed::expected("a hash of 32 bytes in base64", text))
    }
}

/// A tree that grows leaf by leaf. It stores only the roots of its complete subtrees, at most 64.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tree {
    size: u64,
    /// One for each bit of the size that is 1, the greatest subtree first.
    complete: Vec<TreeHash>,
}

impl Tree {
    /// Adds a leaf.
    pub fn push(&mut self, leaf: TreeHash) {
        let mut hash = leaf;
        for _ in 0..self.size.trailing_ones() {
            if let Some(left) = self.complete.pop() {
                hash = TreeHash::of_node(&left, &hash);
            }
        }
        self.complete.push(hash);
        self.size = self.size.saturating_add(1);
    }

    /// Returns the number of leaves.
    #[must_use]
    pub const fn size(&self) -> u64 {
        self.size
    }

    /// Returns the hash of the tree; without leaves, the hash of no bytes.
    #[must_use]
    pub fn root(&self) -> TreeHash {
        let Some((last, greater)) = self.complete.split_last() else {
            return TreeHash(Sha256::digest([]).into());
        };
        let mut root = *last;
        for left in greater.iter().rev() {
            root = TreeHash::of_node(left, &root);
        }
        root
    }
}

/// Returns the greatest power of two below a size of at least 2.
fn split(size: u64) -> u64 {
    1 << (size.saturating_sub(1)).checked_ilog2().unwrap_or(0)
}

/// Computes the hashes of a proof from the leaves in order, in memory that grows with the logarithm of the tree's size.
#[derive(Clone, Debug)]
pub struct ProofBuilder {
    /// The subtrees whose roots are the proof, in its order.
    subtrees: Vec<(Range<u64>, Tree)>,
    next: u64,
}

impl ProofBuilder {
    /// Begins the proof that a tree of this size has a leaf at this index (RFC 6962, section 2.1.1); `None` if it has
    /// no such leaf.
    #[must_use]
    pub fn inclusion(index: u64, size: u64) -> Option<Self> {
        if index >= size {
            return None;
        }
        let mut ranges = Vec::new();
        let mut range = 0..size;
        while range.end - range.start > 1 {
            let middle = range.start + split(range.end - range.start);
            if index < middle {
                ranges.push(middle..range.end);
                range.end = middle;
            } else {
                ranges.push(range.start..middle);
                range.start = middle;
            }
        }
        Some(Self::of(ranges))
    }

    /// Begins the proof that a tree of this size extends the one of `old_size` (RFC 6962, section 2.1.2); `None` if it
    /// is smaller. A proof for an empty tree or an equal one has no hashes.
    #[must_use]
    pub fn consistency(old_size: u64, size: u64) -> Option<Self> {
        if old_size > size {
            return None;
        }
        let mut ranges = Vec::new();
        let mut range = 0..size;
        while old_size > 0 && range.end != old_size {
            let middle = range.start + split(range.end - range.start);
            if old_size <= middle {
                ranges.push(middle..range.end);
                range.end = middle;
            } else {
                ranges.push(range.start..middle);
                range.start = middle;
            }
        }
        // The old tree itself need not be shown, because the reader of the proof knows its root.
        if range.start > 0 {
            ranges.push(range);
        }
        Some(Self::of(ranges))
    }

    /// Reverses the ranges: they are found from the root downwards, and a proof begins at the leaf.
    fn of(ranges: Vec<Range<u64>>) -> Self {
        let subtrees = ranges.into_iter().rev().map(|range| (range, Tree::default())).collect();
        Self { subtrees, next: 0 }
    }

    /// Takes the next leaf of the tree.
    pub fn push(&mut self, leaf: TreeHash) {
        for (range, tree) in &mut self.subtrees {
            if range.contains(&self.next) {
                tree.push(leaf);
            }
        }
        self.next = self.next.saturating_add(1);
    }

    /// Returns the proof, after every leaf of the tree.
    #[must_use]
    pub fn hashes(&self) -> Vec<TreeHash> {
        self.subtrees.iter().map(|(_, tree)| tree.root()).collect()
    }
}

/// Returns the root that a proof shows for a tree of this size with the leaf at this index; `None` if the number of its
/// hashes is wrong.
#[must_use]
pub fn included_root(proof: &[TreeHash], index: u64, size: u64, leaf: TreeHash) -> Option<TreeHash> {
    if index >= size {
        return None;
    }
    if size == 1 {
        return proof.is_empty().then_some(leaf);
    }
    let (last, rest) = proof.split_last()?;
    let middle = split(size);
    if index < middle {
        return Some(TreeHash::of_node(&included_root(rest, index, middle, leaf)?, last));
    }
    Some(TreeHash::of_node(last, &included_root(rest, index - middle, size - middle, leaf)?))
}

/// Returns `true` if a proof shows that the tree of this size and root extends the old one.
///
/// Every tree extends an empty one, by a proof without hashes.
#[must_use]
pub fn is_consistent(proof: &[TreeHash], old: (u64, TreeHash), new: (u64, TreeHash)) -> bool {
    if old.0 == 0 {
        return proof.is_empty() && old.1 == Tree::default().root();
    }
    roots(proof, old, new.0, true) == Some((old.1, new.1))
}

/// Returns the roots of the old and the new tree, as a proof shows them. `known` is `true` as long as the subtree is
/// the old tree itself.
fn roots(proof: &[TreeHash], old: (u64, TreeHash), size: u64, known: bool) -> Option<(TreeHash, TreeHash)> {
    if old.0 > size {
        return None;
    }
    if old.0 == size {
        return match proof {
            [] if known => Some((old.1, old.1)),
            [hash] if !known => Some((*hash, *hash)),
            _ => None,
        };
    }
    let (last, rest) = proof.split_last()?;
    let middle = split(size);
    if old.0 <= middle {
        let (before, after) = roots(rest, old, middle, known)?;
        return Some((before, TreeHash::of_node(&after, last)));
    }
    let (before, after) = roots(rest, (old.0 - middle, old.1), size - middle, false)?;
    Some((TreeHash::of_node(last, &before), TreeHash::of_node(last, &after)))
}
