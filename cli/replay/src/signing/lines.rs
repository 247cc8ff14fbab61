//! All lines of some matches signed to their ends, in one reading of their records (TR-15, TR-19).

use std::collections::BTreeSet;
use std::io::Write;

use turnfold_core::trust::{Checkpoint, SignedNote};

use super::memory::KnownLog;
use super::signer::{SignedLine, Signers};
use crate::bundle::sizes::LineFinder;
use crate::bundle::{BundleWriter, LineIndex, LineRecords, LineTrees};
use crate::error::ReplayError;
use crate::history::revision::Revision;

/// Signs every line to its end. What is signed is remembered before it is returned.
///
/// # Errors
/// Every error of [`Signers::sign`]; where one line is refused, none is signed.
pub fn sign_lines(records: &dyn LineRecords, signers: &Signers) -> Result<Vec<SignedLine>, ReplayError> {
    let finder = LineFinder::of(records.outline());
    let (lines, mut trees) = begin(&finder, signers)?;
    records.each(&mut |line, record| trees.take(line, record))?;
    sign(&lines, &trees, signers)
}

/// Writes all records and signs every line to its end while they go by. The checkpoints are those, what the keys remember
/// of the same lines, and these others. Returns how many there are.
///
/// # Errors
/// Every error of [`Signers::sign`], and what cannot be written. Nothing is signed then, and what is written is no bundle.
pub fn write_signed_bundle(
    out: &mut dyn Write,
    records: &dyn LineRecords,
    signers: &Signers,
    others: Vec<SignedNote>,
) -> Result<u64, ReplayError> {
    let outline = records.outline();
    let finder = LineFinder::of(outline);
    let (lines, mut trees) = begin(&finder, signers)?;
    let mut writer = BundleWriter::begin(out, outline)?;
    records.each(&mut |line, record| {
        trees.take(line, record)?;
        writer.record(line, record)
    })?;
    let signed: Vec<_> = sign(&lines, &trees, signers)?.into_iter().map(|line| line.note).collect();
    // What is signed now takes the place of what is remembered of the same tree.
    let texts: BTreeSet<_> = signed.iter().map(SignedNote::text).collect();
    let remembered =
        lines.iter().flat_map(|line| &line.known).flat_map(|known| &known.own).map(|known| &known.note);
    let remembered = remembered.filter(|note| !texts.contains(note.text())).cloned();
    let notes: BTreeSet<_> = others.into_iter().chain(remembered).chain(signed.iter().cloned()).collect();
    let count = notes.len() as u64;
    writer.end(notes.into_iter().collect())?;
    Ok(count)
}

/// A line that is to be signed to its end.
struct LineToSign {
    index: LineIndex,
    revision: Revision,
    origin: String,
    size: u64,
    known: Vec<KnownLog>,
}

/// Finds what is remembered of each line, which must not be shorter.
fn begin<'a>(
    finder: &'a LineFinder<'a>,
    signers: &Signers,
) -> Result<(Vec<LineToSign>, LineTrees<'a>), ReplayError> {
    let mut lines = Vec::new();
    for (of_index, of) in finder.outline.matches.iter().enumerate() {
        for (line_index, line) in of.lines.iter().enumerate() {
            let revision = Revision { match_name: of.name.clone(), branch: line.branch.clone(), seq: None };
            let origin = signers.origin_of(&of.genesis.match_id, &line.branch)?;
            let (known, size) = (signers.known(&origin)?, line.size());
            let index = (of_index, line_index);
            lines.push(LineToSign { index, revision, origin, size, known });
        }
    }
    for line in &lines {
        if let Some(signed) = line.sizes().find(|signed| *signed > line.size) {
            let (line, found) = (line.revision.to_string(), line.size);
            return Err(ReplayError::RolledBack { line, signed, found });
        }
    }
    let wanted: Vec<_> = lines
        .iter()
        .flat_map(|line| line.sizes().chain([line.size]).map(move |size| (line.index, size)))
        .collect();
    Ok((lines, LineTrees::of(finder, &wanted)))
}

/// Requires each line to go on from what is remembered, then signs all.
fn sign(
    lines: &[LineToSign],
    trees: &LineTrees<'_>,
    signers: &Signers,
) -> Result<Vec<SignedLine>, ReplayError> {
    for LineToSign { index, revision, size, known, .. } in lines {
        for Checkpoint { size: signed, root, .. } in
            known.iter().flat_map(KnownLog::all).map(|known| &known.checkpoint)
        {
            if trees.root(*index, *signed) != Some(*root) {
                let line = revision.to_string();
                return Err(ReplayError::AnotherHistory { line, signed: *signed, found: *size });
            }
        }
    }
    let sign = |line: &LineToSign| {
        let LineToSign { index, revision, origin, size, known } = line;
        let root = trees.root(*index, *size);
        let root = root.ok_or_else(|| ReplayError::Changed(revision.to_string()))?;
        let checkpoint = Checkpoint { origin: origin.clone(), size: *size, root };
        let note = signers.seal(&checkpoint, known)?;
        let revision = revision.at(size.saturating_sub(1));
        Ok(SignedLine { revision, checkpoint, note, request: None })
    };
    lines.iter().map(sign).collect()
}

impl LineToSign {
    /// The sizes that are remembered.
    fn sizes(&self) -> impl Iterator<Item = u64> {
        self.known.iter().flat_map(KnownLog::all).map(|known| known.checkpoint.size)
    }
}
