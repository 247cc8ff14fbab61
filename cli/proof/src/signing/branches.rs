//! Signs all branches of matches to their ends while reading their records once (TR-15, TR-19).

use std::collections::BTreeSet;
use std::io::Write;

use turnfold_core::trust::{Checkpoint, SignedNote};
use turnfold_history::Revision;

use super::memory::KnownLog;
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
    let signed: Vec<_> = sign(&branches, &trees, signers)?.into_iter().map(|branch| branch.note).collect();
    // A new checkpoint replaces a remembered one of the same tree.
    let texts: BTreeSet<_> = signed.iter().map(SignedNote::text).collect();
    let remembered = branches
        .iter()
        .flat_map(|branch| &branch.known)
        .flat_map(|known| &known.own)
        .map(|known| &known.note);
    let remembered = remembered.filter(|note| !texts.contains(note.text())).cloned();
    let notes: BTreeSet<_> = others.into_iter().chain(remembered).chain(signed.iter().cloned()).collect();
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
    for branch in &branches {
        if let Some(signed) = branch.sizes().find(|signed| *signed > branch.size) {
            let (branch, found) = (branch.revision.to_string(), branch.size);
            return Err(ProofError::RolledBack { branch, signed, found });
        }
    }
    let wanted: Vec<_> = branches
        .iter()
        .flat_map(|branch| branch.sizes().chain([branch.size]).map(move |size| (branch.index, size)))
        .collect();
    Ok((branches, BranchTrees::of(finder, &wanted)))
}

/// Requires each branch to continue what the keys remember, then signs all.
fn sign(
    branches: &[BranchToSign],
    trees: &BranchTrees<'_>,
    signers: &Signers,
) -> Result<Vec<SignedBranch>, ProofError> {
    for BranchToSign { index, revision, size, known, .. } in branches {
        for Checkpoint { size: signed, root, .. } in
            known.iter().flat_map(KnownLog::all).map(|known| &known.checkpoint)
        {
            if trees.root(*index, *signed) != Some(*root) {
                let branch = revision.to_string();
                return Err(ProofError::AnotherHistory { branch, signed: *signed, found: *size });
            }
        }
    }
    let sign = |branch: &BranchToSign| {
        let BranchToSign { index, revision, origin, size, known } = branch;
        let root = trees.root(*index, *size);
        let root = root.ok_or_else(|| ProofError::Changed(revision.to_string()))?;
        let checkpoint = Checkpoint { origin: origin.clone(), size: *size, root };
        let note = signers.seal(&checkpoint, known)?;
        let revision = revision.at(size.saturating_sub(1));
        Ok(SignedBranch { revision, checkpoint, note, request: None })
    };
    branches.iter().map(sign).collect()
}

impl BranchToSign {
    fn sizes(&self) -> impl Iterator<Item = u64> {
        self.known.iter().flat_map(KnownLog::all).map(|known| known.checkpoint.size)
    }
}
