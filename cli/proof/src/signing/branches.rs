//! Signs all branches of matches to their ends while reading their records once (TR-15, TR-19).

use std::collections::BTreeSet;
use std::io::Write;

use turnfold_core::trust::{Checkpoint, SignedNote};
use turnfold_history::Revision;

use super::memory::{KnownLog, all_checkpoints};
use super::signer::{SignedBranch, Signers};
use crate::bundle::sizes::BranchFinder;
use crate::bundle::{BranchIndex, BranchTrees, BundleRecords, BundleWriter};
use crate::error::ProofError;

/// Signs every branch to its end. Each checkpoint is remembered before it is returned.
///
/// # Errors
/// Every error of [`Signers::sign`]; if one branch is refused, none is signed.
pub fn sign_branches(
    records: &dyn BundleRecords,
    signers: &Signers,
) -> Result<Vec<SignedBranch>, ProofError> {
    let finder = BranchFinder::of(records.outline());
    let (branches, mut trees) = begin(&finder, signers)?;
    records.each(&mut |branch, record| trees.take(branch, record))?;
    sign(&branches, &trees, signers)
}

/// Writes all records and signs every branch to its end on the way. The bundle gets the new checkpoints, those that the keys
/// remember of these branches, and `others`. Returns how many.
///
/// # Errors
/// Every error of [`Signers::sign`], and what cannot be written. Then nothing is signed, and the output is not a bundle.
pub fn write_signed_bundle(
    out: &mut dyn Write,
    records: &dyn BundleRecords,
    signers: &Signers,
    others: Vec<SignedNote>,
) -> Result<u64, ProofError> {
    let outline = records.outline();
    let finder = BranchFinder::of(outline);
    let (branches, mut trees) = begin(&finder, signers)?;
    let mut writer = BundleWriter::begin(out, outline)?;
    records.each(&mut |branch, record| {
        trees.take(branch, record)?;
        writer.record(branch, record)
    })?;
    let signed = sign(&branches, &trees, signers)?;
    // A new checkpoint replaces a remembered one of the same tree.
    let mut notes: BTreeSet<_> = others.into_iter().collect();
    let mut texts = BTreeSet::new();
    for branch in &signed {
        texts.insert(branch.note.text());
        notes.insert(branch.note.clone());
    }
    for branch in &branches {
        for known in &branch.known {
            if let Some(own) = &known.own
                && !texts.contains(own.note.text())
            {
                notes.insert(own.note.clone());
            }
        }
    }
    let count = notes.len() as u64;
    writer.end(notes.into_iter().collect())?;
    Ok(count)
}

struct BranchToSign {
    index: BranchIndex,
    revision: Revision,
    origin: String,
    size: u64,
    known: Vec<KnownLog>,
}

/// Finds what the keys remember of each branch. A branch must not be shorter than that.
fn begin<'a>(
    finder: &'a BranchFinder<'a>,
    signers: &Signers,
) -> Result<(Vec<BranchToSign>, BranchTrees<'a>), ProofError> {
    let mut branches = Vec::new();
    for (match_index, bundled) in finder.outline.matches.iter().enumerate() {
        for (branch_index, branch) in bundled.branches.iter().enumerate() {
            let revision =
                Revision { match_name: bundled.name.clone(), branch: branch.name.clone(), seq: None };
            let origin = signers.origin_of(&bundled.genesis.match_id, &branch.name)?;
            let known = signers.known(&origin)?;
            let size = branch.size();
            let index = (match_index, branch_index);
            branches.push(BranchToSign { index, revision, origin, size, known });
        }
    }
    let mut wanted = Vec::new();
    for branch in &branches {
        wanted.push((branch.index, branch.size));
        for Checkpoint { size: signed, .. } in all_checkpoints(&branch.known) {
            if *signed > branch.size {
                let found = branch.size;
                return Err(ProofError::RolledBack {
                    branch: branch.revision.to_string(),
                    signed: *signed,
                    found,
                });
            }
            wanted.push((branch.index, *signed));
        }
    }
    Ok((branches, BranchTrees::of(finder, &wanted)))
}

fn sign(
    branches: &[BranchToSign],
    trees: &BranchTrees<'_>,
    signers: &Signers,
) -> Result<Vec<SignedBranch>, ProofError> {
    for branch in branches {
        for Checkpoint { size: signed, root, .. } in all_checkpoints(&branch.known) {
            if trees.root(branch.index, *signed) != Some(*root) {
                let found = branch.size;
                let branch = branch.revision.to_string();
                return Err(ProofError::AnotherHistory { branch, signed: *signed, found });
            }
        }
    }
    let mut all = Vec::new();
    for BranchToSign { index, revision, origin, size, known } in branches {
        let root = trees.root(*index, *size);
        let root = root.ok_or_else(|| ProofError::Changed(revision.to_string()))?;
        let checkpoint = Checkpoint { origin: origin.clone(), size: *size, root };
        let note = signers.seal(&checkpoint, known)?;
        let revision = revision.at(size.saturating_sub(1));
        all.push(SignedBranch { revision, checkpoint, note, request: None });
    }
    Ok(all)
}
