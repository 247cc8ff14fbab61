//! Proofs as files: that a record is in a tree, and that a tree extends another (TR-13, TR-14).

use core::fmt;

use alloc::vec::Vec;

use super::base64;
use super::checkpoint::Checkpoint;
use super::note::SignedNote;
use super::tree::{TreeHash, included_root};
use crate::text::{Malformed, number};

/// The first line of a proof of inclusion.
const TITLE: &str = "c2sp.org/tlog-proof@v1";

/// The most hashes of a proof: the greatest tree has no more levels.
const HASHES_MAX: usize = 64;

/// A record with the proof that a checkpoint's tree has it: a C2SP `.tlog-proof`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InclusionProof {
    /// The record. Only the proof vouches for it.
    pub record: Vec<u8>,
    /// Its index.
    pub index: u64,
    /// The hashes of the proof.
    pub hashes: Vec<TreeHash>,
    /// The checkpoint, signed.
    pub note: SignedNote,
}

impl InclusionProof {
    /// Reads a proof strictly, without checking the proof or a signature.
    ///
    /// # Errors
    /// What is wrong with its form.
    pub fn read(bytes: &[u8]) -> Result<Self, Malformed> {
        let (head, note) = split(bytes)?;
        let expected = || Malformed("expected a proof of inclusion with its record".into());
        let rest = head.strip_prefix(TITLE).and_then(|rest| rest.strip_prefix("\nextra "));
        let (record, rest) = rest.and_then(|rest| rest.split_once("\nindex ")).ok_or_else(expected)?;
        let record = base64::decode(record).ok_or_else(expected)?;
        let (index, hashes) = read_hashes(rest)?;
        Ok(Self { record, index, hashes, note })
    }

    /// Returns the checkpoint whose tree has the record at the index.
    ///
    /// # Errors
    /// A message if the proof does not show it, or the note is not a checkpoint. Signatures are not checked here.
    pub fn checkpoint(&self) -> Result<Checkpoint, Malformed> {
        let checkpoint: Checkpoint = self.note.text().parse()?;
        let leaf = TreeHash::of_record(&self.record);
        let shown = included_root(&self.hashes, self.index, checkpoint.size, leaf);
        if shown != Some(checkpoint.root) {
            return Err(Malformed("the proof does not lead to the checkpoint's root".into()));
        }
        Ok(checkpoint)
    }
}

impl fmt::Display for InclusionProof {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { record, index, hashes, note } = self;
        writeln!(out, "{TITLE}\nextra {}\nindex {index}", base64::encode(record))?;
        write_hashes(out, hashes)?;
        write!(out, "\n{note}")
    }
}

/// A checkpoint with the proof that its tree extends an older one, for a witness to cosign.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConsistencyRequest {
    /// The size of the older tree.
    pub old: u64,
    /// The hashes of the proof.
    pub hashes: Vec<TreeHash>,
    /// The checkpoint, signed.
    pub note: SignedNote,
}

impl ConsistencyRequest {
    /// Reads a request strictly, without checking its proof or a signature.
    ///
    /// # Errors
    /// What is wrong with its form.
    pub fn read(bytes: &[u8]) -> Result<Self, Malformed> {
        let (head, note) = split(bytes)?;
        let expected =
            || Malformed::expected("the size of the older tree, written `old SIZE`", first_line(head));
        let (old, hashes) = read_hashes(head.strip_prefix("old ").ok_or_else(expected)?)?;
        Ok(Self { old, hashes, note })
    }
}

impl fmt::Display for ConsistencyRequest {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "old {}", self.old)?;
        write_hashes(out, &self.hashes)?;
        write!(out, "\n{}", self.note)
    }
}

fn first_line(text: &str) -> &str {
    text.split('\n').next().unwrap_or_default()
}

/// Splits a file at its first empty line, into its own lines and a note.
fn split(bytes: &[u8]) -> Result<(&str, SignedNote), Malformed> {
    let text = core::str::from_utf8(bytes).map_err(|_| Malformed("expected a proof in UTF-8".into()))?;
    let (head, note) = text
        .split_once("\n\n")
        .ok_or_else(|| Malformed("expected a proof, an empty line and a checkpoint".into()))?;
    Ok((head, SignedNote::read(note.as_bytes())?))
}

/// Reads a number and the lines of hashes below it.
fn read_hashes(text: &str) -> Result<(u64, Vec<TreeHash>), Malformed> {
    let mut lines = text.split('\n');
    let first = number(lines.next().unwrap_or_default())?;
    let mut hashes: Vec<TreeHash> = Vec::new();
    for line in lines.take(HASHES_MAX + 1) {
        hashes.push(line.parse()?);
    }
    if hashes.len() > HASHES_MAX {
        return Err(Malformed("expected a proof of at most 64 hashes".into()));
    }
    Ok((first, hashes))
}

fn write_hashes(out: &mut fmt::Formatter<'_>, hashes: &[TreeHash]) -> fmt::Result {
    for hash in hashes {
        writeln!(out, "{hash}")?;
    }
    Ok(())
}

/// Reads a signed note, or the note at the end of a proof of either kind: whatever an auditor may have kept.
///
/// # Errors
/// What is wrong with it, for the kind that its first line names.
pub fn note_within(bytes: &[u8]) -> Result<(SignedNote, Option<InclusionProof>), Malformed> {
    if bytes.starts_with(TITLE.as_bytes()) {
        let proof = InclusionProof::read(bytes)?;
        return Ok((proof.note.clone(), Some(proof)));
    }
    if bytes.starts_with(b"old ") {
        return Ok((ConsistencyRequest::read(bytes)?.note, None));
    }
    Ok((SignedNote::read(bytes)?, None))
}
