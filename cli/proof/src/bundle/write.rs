//! Writing bundles (TR-18, TR-19).

use std::io::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};
use turnfold_core::Digest;
use turnfold_core::trust::SignedNote;

use super::outline::{BundleOutline, BundledBranch, BundledModule, TITLE};
use super::parse::{MODULE_LINE_BYTES, checkpoint_order};
use super::records::{BranchIndex, BundleRecords, BundledRecord};
use crate::error::ProofError;

/// Writes all records and these checkpoints, sorted and without duplicates.
///
/// # Errors
/// What cannot be read or written.
pub fn write_bundle(
    out: &mut dyn Write,
    records: &dyn BundleRecords,
    checkpoints: Vec<SignedNote>,
) -> Result<(), ProofError> {
    let mut writer = BundleWriter::begin(out, records.outline())?;
    records.each(&mut |branch, record| writer.record(branch, record))?;
    writer.end(checkpoints)
}

pub(crate) struct BundleWriter<'a> {
    out: Hashed<'a>,
    outline: &'a BundleOutline,
    /// The branch whose header was written last.
    begun: Option<BranchIndex>,
    text: String,
}

impl<'a> BundleWriter<'a> {
    pub(crate) fn begin(out: &'a mut dyn Write, outline: &'a BundleOutline) -> Result<Self, ProofError> {
        let mut out = Hashed { out, hasher: Sha256::new() };
        out.text(TITLE)?;
        Ok(Self { out, outline, begun: None, text: String::new() })
    }

    /// Writes the next record, in the order of the outline.
    pub(crate) fn record(
        &mut self,
        branch: BranchIndex,
        record: BundledRecord<'_>,
    ) -> Result<(), ProofError> {
        self.begin_branches(Some(branch))?;
        self.text.clear();
        match record {
            BundledRecord::Shown(bytes, _) => {
                self.text.push('+');
                STANDARD.encode_string(bytes, &mut self.text);
            }
            BundledRecord::LeftOut(leaf) => self.text.extend(['#'.into(), leaf.to_string()]),
        }
        self.text.push('\n');
        self.out.text(&self.text)
    }

    pub(crate) fn end(mut self, checkpoints: Vec<SignedNote>) -> Result<(), ProofError> {
        self.begin_branches(None)?;
        for module in &self.outline.modules {
            self.out.module(module)?;
        }
        self.out.end(checkpoints)
    }

    /// Writes the headers of the branches up to this one, or up to the last. A branch without own records has only a header.
    fn begin_branches(&mut self, until: Option<BranchIndex>) -> Result<(), ProofError> {
        while self.begun != until || until.is_none() {
            let next = match self.begun {
                None => (0, 0),
                Some(begun) => self.outline.after(begun),
            };
            let Some(bundled) = self.outline.matches.get(next.0) else { break };
            let Some(branch) = bundled.branches.get(next.1) else { break };
            if next.1 == 0 {
                self.out.text(&format!("-- match {}\n", bundled.name))?;
            }
            let BundledBranch { name, first, count, link, .. } = branch;
            let parent = bundled.parent_of(branch).map_or("-", |parent| parent.name.as_str());
            self.out.text(&format!("-- line {name} {parent} {first} {count} {link}\n"))?;
            self.begun = Some(next);
        }
        Ok(())
    }
}

/// Writes a bundle of nothing but checkpoints (TR-15).
///
/// # Errors
/// What cannot be written.
pub fn write_checkpoints(out: &mut dyn Write, checkpoints: Vec<SignedNote>) -> Result<(), ProofError> {
    let mut out = Hashed { out, hasher: Sha256::new() };
    out.text(TITLE)?;
    out.end(checkpoints)
}

struct Hashed<'a> {
    out: &'a mut dyn Write,
    hasher: Sha256,
}

impl Hashed<'_> {
    fn text(&mut self, text: &str) -> Result<(), ProofError> {
        self.hasher.update(text);
        self.out.write_all(text.as_bytes()).map_err(ProofError::Write)
    }

    fn module(&mut self, module: &BundledModule) -> Result<(), ProofError> {
        self.text(&format!("-- module {}\n", module.file().len()))?;
        for part in module.file().chunks(MODULE_LINE_BYTES) {
            self.text(&format!("+{}\n", STANDARD.encode(part)))?;
        }
        Ok(())
    }

    fn end(mut self, mut checkpoints: Vec<SignedNote>) -> Result<(), ProofError> {
        checkpoints.sort_by_cached_key(checkpoint_order);
        checkpoints.dedup();
        for note in checkpoints {
            let note = note.to_string();
            self.text(&format!("-- checkpoint {}\n{note}", note.len()))?;
        }
        let digest = Digest::new(self.hasher.finalize().into());
        writeln!(self.out, "-- end {digest}").map_err(ProofError::Write)?;
        self.out.flush().map_err(ProofError::Write)
    }
}
