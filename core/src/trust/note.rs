//! Signed notes: a text and lines that sign it; and cosignatures of witnesses (TR-6, TR-8, TR-16).

use core::fmt;
use core::str::FromStr;

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::base64;
use super::key::{BadSignature, KeyId, KeyKind, PrivateKey, VerifierKey, is_note_name};
use crate::text::Malformed;

/// The most bytes of a note (TR-8).
pub const NOTE_BYTES_MAX: usize = 64 * 1024;

/// The most signature lines of a note (TR-8).
pub const SIGNATURES_MAX: usize = 64;

/// The beginning of a signature line: an em dash and a space.
const DASH: &str = "\u{2014} ";

/// The greatest time of a cosignature, in Unix seconds.
const TIME_MAX: u64 = i64::MAX.unsigned_abs();

/// A line that signs a note, by a key that may be unknown.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SignatureLine {
    name: String,
    id: KeyId,
    signature: Vec<u8>,
}

impl SignatureLine {
    /// Signs the text of a note with a signer's key, under the name of the log (TR-6).
    #[must_use]
    pub fn sign(key: &PrivateKey, origin: &str, text: &str) -> Self {
        let id = key.verifier().for_origin(origin).id();
        Self { name: origin.into(), id, signature: key.sign(text.as_bytes()).into() }
    }

    /// Cosigns the text of a checkpoint as a witness that saw it at this time, in Unix seconds (TR-16).
    #[must_use]
    pub fn cosign(key: &PrivateKey, text: &str, time: u64) -> Self {
        let signature = key.sign(cosigned(text, time).as_bytes());
        let signature = [time.to_be_bytes().as_slice(), signature.as_slice()].concat();
        Self { name: key.name().as_str().into(), id: key.verifier().id(), signature }
    }

    /// Returns the time of a cosignature, and the signature over it; `None` if it is not one by Ed25519.
    #[must_use]
    pub fn cosignature(&self) -> Option<(u64, &[u8])> {
        let (time, signature) = self.signature.split_first_chunk::<8>()?;
        let time = u64::from_be_bytes(*time);
        if signature.len() == 64 && time <= TIME_MAX { Some((time, signature)) } else { None }
    }

    /// Returns the name of the key that the line names.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns `true` if this witness cosigned the text of a checkpoint with this line.
    #[must_use]
    pub fn is_cosignature_of(&self, text: &str, witness: &VerifierKey) -> bool {
        if witness.kind() != KeyKind::Witness || !self.is_of(witness) {
            return false;
        }
        let Some((time, signature)) = self.cosignature() else { return false };
        witness.verify(cosigned(text, time).as_bytes(), signature).is_ok()
    }

    /// Returns `true` if the line names this key.
    pub(super) fn is_of(&self, key: &VerifierKey) -> bool {
        self.name == key.name() && self.id == key.id()
    }
}

/// Returns the text that a witness signs.
fn cosigned(text: &str, time: u64) -> String {
    format!("cosignature/v1\ntime {time}\n{text}")
}

impl fmt::Display for SignatureLine {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let signature = [self.id.as_bytes().as_slice(), &self.signature].concat();
        write!(out, "{DASH}{} {}", self.name, base64::encode(&signature))
    }
}

impl FromStr for SignatureLine {
    type Err = Malformed;

    /// Reads a line, without its line feed.
    fn from_str(line: &str) -> Result<Self, Malformed> {
        if let Some((name, signature)) = line.strip_prefix(DASH).and_then(|line| line.split_once(' '))
            && is_note_name(name)
            && let Some(bytes) = base64::decode(signature)
            && let Some((id, signature)) = bytes.split_first_chunk()
            && !signature.is_empty()
        {
            return Ok(Self { name: name.into(), id: KeyId::new(*id), signature: signature.into() });
        }
        Err(Malformed::expected("a signature line, written \u{2014} NAME SIGNATURE", line))
    }
}

/// A text with lines that sign it. A note that was read is written again byte for byte.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SignedNote {
    text: String,
    signatures: Vec<SignatureLine>,
}

impl SignedNote {
    /// Makes a note; `None` if it could not be read again.
    #[must_use]
    pub fn new(text: String, signatures: Vec<SignatureLine>) -> Option<Self> {
        let note = Self { text, signatures };
        match Self::read(format!("{note}").as_bytes()) {
            Ok(read) if read == note => Some(note),
            _ => None,
        }
    }

    /// Reads a note strictly, without checking a signature.
    ///
    /// # Errors
    /// What is wrong with its form.
    pub fn read(bytes: &[u8]) -> Result<Self, Malformed> {
        if bytes.len() > NOTE_BYTES_MAX {
            return Err(Malformed(format!("expected a note of at most {NOTE_BYTES_MAX} bytes")));
        }
        let note = core::str::from_utf8(bytes).map_err(|_| Malformed("expected a note in UTF-8".into()))?;
        if let Some(bad) = note.chars().find(|character| character.is_control() && *character != '\n') {
            let bad = bad.escape_debug();
            return Err(Malformed(format!("expected a note without control characters, found `{bad}`")));
        }
        let expected =
            || Malformed("expected a note: text, an empty line, signature lines with line feeds".into());
        let (text, lines) = note.rsplit_once("\n\n").ok_or_else(expected)?;
        let lines = lines.strip_suffix('\n').ok_or_else(expected)?;
        let mut signatures: Vec<SignatureLine> = Vec::new();
        for line in lines.split('\n').take(SIGNATURES_MAX + 1) {
            signatures.push(line.parse()?);
        }
        if signatures.len() > SIGNATURES_MAX {
            return Err(Malformed(format!("expected a note with at most {SIGNATURES_MAX} signature lines")));
        }
        Ok(Self { text: format!("{text}\n"), signatures })
    }

    /// Returns the text, with the line feed at its end.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the signature lines, including lines of unknown keys.
    #[must_use]
    pub fn signatures(&self) -> &[SignatureLine] {
        &self.signatures
    }

    /// Adds the signature lines that are not there yet; `None` if they are too many.
    #[must_use]
    pub fn with(mut self, lines: impl IntoIterator<Item = SignatureLine>) -> Option<Self> {
        for line in lines {
            if !self.signatures.contains(&line) {
                self.signatures.push(line);
            }
        }
        Self::new(self.text, self.signatures)
    }

    /// Adds signature lines in place of older ones of the same keys; `None` if they are too many.
    #[must_use]
    pub fn replacing(mut self, lines: impl IntoIterator<Item = SignatureLine>) -> Option<Self> {
        for line in lines {
            self.signatures.retain(|old| (&old.name, old.id) != (&line.name, line.id));
            self.signatures.push(line);
        }
        Self::new(self.text, self.signatures)
    }

    /// Returns `true` if a signer signed the text. Lines of other keys are ignored.
    ///
    /// # Errors
    /// [`BadSignature`] if a line names this key, but is not by it.
    pub fn is_signed_by(&self, key: &VerifierKey) -> Result<bool, BadSignature> {
        if key.kind() != KeyKind::Signer {
            return Ok(false);
        }
        let mut is_signed = false;
        for line in &self.signatures {
            if line.is_of(key) {
                key.verify(self.text.as_bytes(), &line.signature)?;
                is_signed = true;
            }
        }
        Ok(is_signed)
    }

    /// Returns when a witness cosigned the text, the newest time if it did so more than once. Lines of other keys are
    /// ignored.
    ///
    /// # Errors
    /// [`BadSignature`] if a line names this key, but is not by it or is malformed.
    pub fn cosigned_by(&self, key: &VerifierKey) -> Result<Option<u64>, BadSignature> {
        let mut newest = None;
        if key.kind() != KeyKind::Witness {
            return Ok(newest);
        }
        for line in &self.signatures {
            if !line.is_of(key) {
                continue;
            }
            let (time, signature) = line.cosignature().ok_or_else(|| BadSignature(key.name().into()))?;
            key.verify(cosigned(&self.text, time).as_bytes(), signature)?;
            newest = newest.max(Some(time));
        }
        Ok(newest)
    }
}

impl fmt::Display for SignedNote {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "{}", self.text)?;
        for line in &self.signatures {
            writeln!(out, "{line}")?;
        }
        Ok(())
    }
}
