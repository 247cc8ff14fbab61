//! Compares trees and proofs with `ct-merkle`, which is independent of this project.

use ct_merkle::mem_backed_tree::MemoryBackedTree;
use sha2::Sha256;
use turnfold_core::trust::tree::{included_root, is_consistent};
use turnfold_core::trust::{ProofBuilder, Tree, TreeHash};

use super::vectors::{leaves, root};

const SIZE_MAX: u64 = 70;

type OtherTree = MemoryBackedTree<Sha256, Vec<u8>>;

fn other(size: u64) -> OtherTree {
    let mut tree = OtherTree::new();
    (0..size).for_each(|index| tree.push(format!("leaf {index}").into_bytes()));
    tree
}

/// Splits a proof of `ct-merkle` into its hashes.
fn hashes(bytes: &[u8]) -> Vec<TreeHash> {
    bytes.chunks(32).map(|hash| TreeHash::new(hash.try_into().unwrap())).collect()
}

fn built(mut builder: ProofBuilder, size: u64) -> Vec<TreeHash> {
    leaves(size).for_each(|leaf| builder.push(leaf));
    builder.hashes()
}

fn place(index: u64) -> usize {
    usize::try_from(index).unwrap()
}

/// Returns a proof with one more hash, and with each hash removed or changed in one bit.
fn spoilt(proof: &[TreeHash], other: TreeHash) -> Vec<Vec<TreeHash>> {
    let mut all = vec![[proof, &[other]].concat()];
    for place in 0..proof.len() {
        let mut flipped = proof.to_vec();
        let mut bytes = *proof[place].as_bytes();
        bytes[place % 32] ^= 1 << (place % 8);
        flipped[place] = TreeHash::new(bytes);
        let mut shorter = proof.to_vec();
        shorter.remove(place);
        all.extend([flipped, shorter]);
    }
    all
}

#[test]
fn tr_2_roots_match_another_implementation() {
    let mut tree = Tree::default();
    assert_eq!(tree.root().as_bytes()[..], other(0).root().as_bytes()[..], "the empty tree");
    for (size, leaf) in (1..=SIZE_MAX).zip(leaves(SIZE_MAX)) {
        tree.push(leaf);
        assert_eq!(tree.size(), size);
        assert_eq!(tree.root().as_bytes()[..], other(size).root().as_bytes()[..], "size {size}");
    }
}

#[test]
fn tr_13_proofs_of_inclusion_match_another_implementation_and_no_other_proves() {
    let other_hash = root(3);
    for size in 1..=SIZE_MAX {
        let (theirs, root) = (other(size), root(size));
        for (index, leaf) in (0..size).zip(leaves(size)) {
            let proof = built(ProofBuilder::inclusion(index, size).unwrap(), size);
            let expected = theirs.prove_inclusion(place(index));
            assert_eq!(proof, hashes(expected.as_bytes()), "{index} in {size}");
            assert_eq!(included_root(&proof, index, size, leaf), Some(root), "{index} in {size}");
            for spoilt in spoilt(&proof, other_hash) {
                assert_ne!(included_root(&spoilt, index, size, leaf), Some(root), "{index} in {size}");
            }
            // The proof proves no other index.
            for other in (0..size).filter(|other| *other != index) {
                assert_ne!(included_root(&proof, other, size, leaf), Some(root), "{index} as {other}");
            }
            assert_ne!(included_root(&proof, index, size, TreeHash::of_record(b"another")), Some(root));
        }
        assert!(ProofBuilder::inclusion(size, size).is_none());
        assert_eq!(included_root(&[], size, size, root), None);
    }
}

#[test]
fn tr_14_proofs_of_consistency_match_another_implementation_and_no_other_proves() {
    let other_hash = TreeHash::of_record(b"another");
    let roots: Vec<_> = (0..=SIZE_MAX).map(root).collect();
    for size in 1..=SIZE_MAX {
        let (theirs, root_after) = (other(size), roots[place(size)]);
        for old in 1..=size {
            let proof = built(ProofBuilder::consistency(old, size).unwrap(), size);
            if old < size {
                let expected = theirs.prove_consistency(place(size - old));
                assert_eq!(proof, hashes(expected.as_bytes()), "{old} to {size}");
            }
            let (before, after) = ((old, roots[place(old)]), (size, root_after));
            assert!(is_consistent(&proof, before, after), "{old} to {size}");
            for spoilt in spoilt(&proof, other_hash) {
                assert!(!is_consistent(&spoilt, before, after), "{old} to {size}");
            }
            // Other sizes: a proof for one old size is not valid for another size and its root.
            for other in (1..=size).filter(|other| *other != old) {
                assert!(!is_consistent(&proof, (other, roots[place(other)]), after), "{old} as {other}");
            }
            assert!(!is_consistent(&proof, (old, roots[0]), after), "another old root");
            assert!(!is_consistent(&proof, before, (size, roots[0])), "another new root");
        }
        assert!(ProofBuilder::consistency(size + 1, size).is_none());
        let nothing = (0, Tree::default().root());
        assert!(is_consistent(&[], nothing, (size, root_after)), "all goes on from nothing");
        assert!(!is_consistent(&[root_after], nothing, (size, root_after)));
    }
}

#[test]
fn sizes_at_the_end_of_the_numbers_overflow_nothing() {
    let hash = root(1);
    for proof in [vec![], vec![hash; 63], vec![hash; 64]] {
        for index in [0, 1, u64::MAX - 1] {
            assert_ne!(included_root(&proof, index, u64::MAX, hash), Some(hash));
            assert!(!is_consistent(&proof, (index.max(1), hash), (u64::MAX, hash)));
        }
    }
    assert!(ProofBuilder::inclusion(u64::MAX - 1, u64::MAX).is_some());
    assert!(ProofBuilder::consistency(1, u64::MAX).is_some());
}
