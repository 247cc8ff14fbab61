//! A bundle as a file, which is read again whenever its records are needed.

use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use turnfold_history::input;

use super::outline::{BundleOutline, TITLE};
use super::parse::parse;
use super::records::{BundleRecords, TakeRecord};
use crate::error::ProofError;

const BUFFER_BYTES: usize = 1 << 16;

/// A well-formed bundle (TR-21).
#[derive(Clone, Debug)]
pub struct BundleFile {
    path: PathBuf,
    /// The content, if the bundle was attached to a mail in this file.
    attached: Option<Arc<[u8]>>,
    outline: BundleOutline,
}

impl BundleFile {
    /// Reads a whole bundle strictly: each record must encode to the bytes it was decoded from. Chain, signatures and rules
    /// are not checked.
    ///
    /// # Errors
    /// [`ProofError`] with the first wrong line.
    pub fn read(path: &Path) -> Result<Self, ProofError> {
        Self::read_from(path, None)
    }

    /// Reads a bundle that was attached to a mail in a file, as [`read`](Self::read) does.
    ///
    /// # Errors
    /// As for [`read`](Self::read).
    pub fn of_bytes(path: &Path, bytes: Vec<u8>) -> Result<Self, ProofError> {
        Self::read_from(path, Some(bytes.into()))
    }

    fn read_from(path: &Path, attached: Option<Arc<[u8]>>) -> Result<Self, ProofError> {
        let mut before = None;
        let outline = parse_file(path, attached.as_deref(), &mut |branch, record| {
            // The parser decodes the first record of a match, its Genesis.
            let is_genesis = branch.1 == 0 && before.replace(branch) != Some(branch);
            if !is_genesis {
                record
                    .entry()
                    .map_err(|error| ProofError::Malformed { line: 0, reason: error.to_string() })?;
            }
            Ok(())
        })?;
        Ok(Self { path: path.into(), attached, outline })
    }
}

fn parse_file(
    path: &Path,
    attached: Option<&[u8]>,
    take: &mut TakeRecord<'_>,
) -> Result<BundleOutline, ProofError> {
    if let Some(mut bytes) = attached {
        return parse(&mut bytes, path, take);
    }
    let file = input::open(path, "bundle")?;
    parse(&mut BufReader::with_capacity(BUFFER_BYTES, file), path, take)
}

impl BundleRecords for BundleFile {
    fn outline(&self) -> &BundleOutline {
        &self.outline
    }

    fn each(&self, take: &mut TakeRecord<'_>) -> Result<(), ProofError> {
        match parse_file(&self.path, self.attached.as_deref(), take) {
            Ok(outline) if outline == self.outline => Ok(()),
            Ok(_) | Err(ProofError::Malformed { .. } | ProofError::NotABundle(_)) => {
                Err(ProofError::Changed(self.path.display().to_string()))
            }
            Err(error) => Err(error),
        }
    }
}

/// Returns `true` if a file begins like a bundle. It may still be malformed.
#[must_use]
pub fn is_bundle(path: &Path) -> bool {
    let Ok(file) = input::open(path, "bundle") else { return false };
    let mut first = Vec::new();
    file.take(TITLE.len() as u64).read_to_end(&mut first).is_ok() && first == TITLE.as_bytes()
}
