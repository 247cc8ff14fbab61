//! The question that an audit answers, and the checkpoints that the auditor kept.

use std::path::{Path, PathBuf};

use turnfold_core::trust::proof::note_within;
use turnfold_core::trust::{Checkpoint, SignedNote, TrustPolicy};
use turnfold_core::{Malformed, Registry};

use crate::bundle::{BundleFile, BundleRecords, is_bundle};
use crate::error::ProofError;
use crate::limits::NOTE;

/// What the auditor brings along.
#[derive(Clone, Copy)]
pub struct AuditQuestion<'a> {
    /// Whose signatures count.
    pub policy: Option<&'a TrustPolicy>,
    /// The checkpoints that the auditor kept.
    pub held: &'a [HeldCheckpoint],
    /// The rulesets there are.
    pub registry: &'a Registry,
    /// Whether rules that only the bundle brings are trusted: true only where the caller checks the modules itself, as an
    /// import does.
    pub accepts_brought_rules: bool,
}

impl<'a> AuditQuestion<'a> {
    /// The question of an import, which knows no keys and checks the modules of the bundle itself.
    #[must_use]
    pub const fn of_import(registry: &'a Registry) -> Self {
        Self { policy: None, held: &[], registry, accepts_brought_rules: true }
    }
}

/// A checkpoint that the auditor kept, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldCheckpoint {
    /// The file.
    pub path: PathBuf,
    /// The note.
    pub note: SignedNote,
    /// The checkpoint in the note.
    pub checkpoint: Checkpoint,
}

/// Reads a checkpoint, a proof, or all checkpoints of a bundle.
///
/// # Errors
/// [`ProofError`] for any other file, and for a proof that does not prove its claim.
pub fn read_held(path: &Path) -> Result<Vec<HeldCheckpoint>, ProofError> {
    let notes = if is_bundle(path) {
        match BundleFile::read(path) {
            Ok(bundle) => bundle.outline().checkpoints.clone(),
            Err(error @ ProofError::Malformed { .. }) => return Err(unusable(path, &error)),
            Err(error) => return Err(error),
        }
    } else {
        let bytes = NOTE.read_file(path)?;
        let (note, proof) = note_within(&bytes).map_err(|error| unusable(path, &error))?;
        if let Some(proof) = proof {
            proof.checkpoint().map_err(|error| unusable(path, &error))?;
        }
        vec![note]
    };
    let mut held = Vec::new();
    for note in notes {
        let checkpoint = note.text().parse().map_err(|error: Malformed| unusable(path, &error))?;
        held.push(HeldCheckpoint { path: path.into(), note, checkpoint });
    }
    Ok(held)
}

fn unusable(path: &Path, error: &dyn std::fmt::Display) -> ProofError {
    ProofError::Unusable(format!("`{}`: {error}", path.display()))
}
