//! Witnesses: they cosign a checkpoint that continues the last one they saw (TR-16).

use turnfold_core::trust::tree::is_consistent;
use turnfold_core::trust::{Checkpoint, ConsistencyRequest, KeyKind, SignatureLine, Tree, VerifierKey};

use super::key_file::KeyFile;
use super::memory::KeyMemory;
use crate::error::ProofError;

/// A cosignature, and whether it is the first of its log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GivenCosignature {
    /// The line to put below the checkpoint.
    pub line: SignatureLine,
    /// The cosigned checkpoint.
    pub checkpoint: Checkpoint,
    /// Whether the witness had never seen this log before.
    pub is_first: bool,
}

/// Cosigns a checkpoint at this time, in Unix seconds, if the log's key signed it and it continues what the witness
/// remembers. The checkpoint is remembered before the cosignature is returned.
///
/// # Errors
/// [`ProofError::Refused`]; the memory is then unchanged.
pub fn cosign(
    request: &ConsistencyRequest,
    witness: &KeyFile,
    log: &VerifierKey,
    time: u64,
) -> Result<GivenCosignature, ProofError> {
    let refused = |reason: String| Err(ProofError::Refused(format!("{reason}; nothing was cosigned")));
    let checkpoint: Checkpoint = match request.note.text().parse() {
        Ok(checkpoint) => checkpoint,
        Err(error) => return Err(ProofError::Unusable(format!("{error}"))),
    };
    let origin = &checkpoint.origin;
    if log.kind() != KeyKind::Signer {
        return Err(ProofError::Unusable(format!("`{}` is the key of a witness, not of a log", log.name())));
    }
    if !log.stands_for(origin) {
        return refused(format!("the key `{}` does not stand for the log `{origin}`", log.name()));
    }
    match request.note.is_signed_by(&log.for_origin(origin)) {
        Ok(true) => {}
        Ok(false) => return refused(format!("the key `{}` has not signed the checkpoint", log.name())),
        Err(error) => return refused(error.to_string()),
    }
    let memory = KeyMemory::of(witness)?;
    let known = memory.known(origin)?;
    // TR-16: a branch of a match has one history, whatever names it was signed under.
    let last = known.checkpoints().into_iter().max_by_key(|last| (last.size, last.origin == *origin));
    let mut before = (0, Tree::default().root());
    let mut under = String::new();
    if let Some(last) = last {
        before = (last.size, last.root);
        if last.origin != *origin {
            under = format!(" of `{}`", last.origin);
        }
    }
    if request.old != before.0 {
        let cosigned = before.0;
        let found = request.old;
        return refused(format!("expected a proof from size {cosigned}{under}, found one from {found}"));
    }
    if checkpoint.size < before.0 {
        return refused(format!("size {} comes after size {}{under}", checkpoint.size, before.0));
    }
    if !is_consistent(&request.hashes, before, (checkpoint.size, checkpoint.root)) {
        return refused(format!(
            "another history: the tree of size {} does not continue the cosigned one of size {}{under}",
            checkpoint.size, before.0
        ));
    }
    memory.remember(origin, &request.note)?;
    let line = SignatureLine::cosign(&witness.key, request.note.text(), time);
    Ok(GivenCosignature { line, checkpoint, is_first: last.is_none() })
}
