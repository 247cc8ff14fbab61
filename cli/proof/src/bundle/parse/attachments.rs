//! The modules and checkpoints that follow the matches of a bundle.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use turnfold_core::registry::MODULE_BYTES_MAX;
use turnfold_core::trust::note::NOTE_BYTES_MAX;
use turnfold_core::trust::{Checkpoint, SignedNote};

use super::Parser;
use crate::bundle::outline::BundledModule;
use crate::error::ProofError;
use crate::limits::{BUNDLE_CHECKPOINT_BYTES_MAX, BUNDLE_MODULES_BYTES_MAX};

/// How many bytes of a module are on a line.
pub(in crate::bundle) const MODULE_LINE_BYTES: usize = 49_152;

impl Parser<'_> {
    /// Reads the file of a module. Its digest is computed, never read (MD-10).
    pub(super) fn read_module(&mut self, length: &str) -> Result<(), ProofError> {
        let length: usize = self.number(length)?;
        self.module_bytes = self.module_bytes.saturating_add(length);
        if !(1..=MODULE_BYTES_MAX).contains(&length) || self.module_bytes > BUNDLE_MODULES_BYTES_MAX {
            return Err(self.malformed(format!(
                "expected modules of at most {MODULE_BYTES_MAX} bytes, {BUNDLE_MODULES_BYTES_MAX} in all"
            )));
        }
        let mut file = Vec::new();
        while file.len() < length {
            self.next()?;
            let expected = MODULE_LINE_BYTES.min(length - file.len());
            let part = self.line.strip_prefix('+').and_then(|part| STANDARD.decode(part).ok());
            match part {
                Some(part) if part.len() == expected => file.extend(part),
                _ => {
                    let reason = format!("expected `+` and {expected} bytes of a module in base64");
                    return Err(self.malformed(reason));
                }
            }
        }
        let module = BundledModule::of(file);
        if self.outline.modules.last().is_some_and(|last| last.digest() >= module.digest()) {
            return Err(self.malformed("expected the modules in the order of their digests, each once"));
        }
        self.outline.modules.push(module);
        self.next()
    }

    pub(super) fn read_checkpoint(&mut self, length: &str) -> Result<(), ProofError> {
        let length: usize = self.number(length)?;
        self.checkpoint_bytes = self.checkpoint_bytes.saturating_add(length);
        if length > NOTE_BYTES_MAX || self.checkpoint_bytes > BUNDLE_CHECKPOINT_BYTES_MAX {
            return Err(self.malformed(format!(
                "expected notes of at most {NOTE_BYTES_MAX} bytes, {BUNDLE_CHECKPOINT_BYTES_MAX} in all"
            )));
        }
        let mut note = String::new();
        self.next()?;
        loop {
            note.push_str(&self.line);
            note.push('\n');
            if note.len() >= length {
                break;
            }
            self.next()?;
        }
        if note.len() != length {
            return Err(self.malformed(format!("expected a note of {length} bytes, found {}", note.len())));
        }
        let note = SignedNote::read(note.as_bytes()).map_err(|error| self.malformed(error.to_string()))?;
        self.word::<Checkpoint>(note.text())?;
        let last = self.outline.checkpoints.last();
        if last.is_some_and(|last| checkpoint_order(last) >= checkpoint_order(&note)) {
            return Err(self.malformed("expected the checkpoints by origin and size, each once"));
        }
        self.outline.checkpoints.push(note);
        self.next()
    }
}

/// Returns the key that checkpoints are sorted by: origin, size, bytes. Notes of a bundle are checkpoints, so the default for
/// any other note is never used.
pub(in crate::bundle) fn checkpoint_order(note: &SignedNote) -> (String, u64, String) {
    match note.text().parse() {
        Ok(Checkpoint { origin, size, .. }) => (origin, size, note.to_string()),
        Err(_) => (String::new(), 0, note.to_string()),
    }
}
