//! Papers as the desk's log holds them: with the signature of a C2SP note whose text is the paper's (PM-4), or as the host wrote
//! them down for a player without a key (PM-38).

use core::fmt;
use core::str::FromStr;

use alloc::format;
use alloc::string::{String, ToString};

use serde::{Deserialize, Serialize};

use super::content::{PAPER_BYTES_MAX, Paper};
use super::text::in_one_line;
use super::time::DeskTime;
use super::values::SeatKey;
use crate::digest::Digest;
use crate::text::{Malformed, stored_as_text};
use crate::trust::{KeyId, PrivateKey, base64};

/// The signature of a note with its key id; written in base64 without padding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PaperSignature {
    id: KeyId,
    signature: [u8; 64],
}

impl fmt::Display for PaperSignature {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&base64::encode_bare(&[self.id.as_bytes().as_slice(), &self.signature].concat()))
    }
}

impl FromStr for PaperSignature {
    type Err = Malformed;

    fn from_str(text: &str) -> Result<Self, Malformed> {
        if let Some(bytes) = base64::decode_bare(text)
            && let Some((id, signature)) = bytes.split_first_chunk()
            && let Ok(signature) = signature.try_into()
        {
            return Ok(Self { id: KeyId::new(*id), signature });
        }
        Err(Malformed::expected("a signature of 91 characters of base64", text))
    }
}

/// A paper and its signature. In one line it is written `LINE | LINE | … | sig SIGNATURE`, without the paper's first line;
/// the log holds this text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SignedPaper {
    paper: Paper,
    signature: PaperSignature,
}

impl SignedPaper {
    /// Combines a paper and a signature; [`is_by`](SignedPaper::is_by) checks that they belong together.
    #[must_use]
    pub const fn new(paper: Paper, signature: PaperSignature) -> Self {
        Self { paper, signature }
    }

    /// Signs a paper, under the key's name.
    #[must_use]
    pub fn sign(paper: Paper, key: &PrivateKey) -> Self {
        let signature = key.sign(paper.to_string().as_bytes());
        Self { paper, signature: PaperSignature { id: key.verifier().id(), signature } }
    }

    /// Returns the paper.
    #[must_use]
    pub const fn paper(&self) -> &Paper {
        &self.paper
    }

    /// Returns the signature.
    #[must_use]
    pub const fn signature(&self) -> &PaperSignature {
        &self.signature
    }

    /// Returns `true` if the key signed the paper, under the key's name.
    #[must_use]
    pub fn is_by(&self, key: &SeatKey) -> bool {
        let key = key.verifier();
        let text = self.paper.to_string();
        self.signature.id == key.id() && key.verify(text.as_bytes(), &self.signature.signature).is_ok()
    }

    /// Returns the signed note that other programs check, by a key of this name.
    #[must_use]
    pub fn note(&self, name: &str) -> String {
        let signature = [self.signature.id.as_bytes().as_slice(), &self.signature.signature].concat();
        format!("{}\n\u{2014} {name} {}\n", self.paper, base64::encode(&signature))
    }
}

impl fmt::Display for SignedPaper {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} | sig {}", in_one_line(&self.paper), self.signature)
    }
}

impl FromStr for SignedPaper {
    type Err = Malformed;

    fn from_str(text: &str) -> Result<Self, Malformed> {
        let expected = || Malformed::expected("a paper in one line, `LINE | … | sig SIGNATURE`", text);
        // Each line is at most half again as long as in the paper's text, and the signature is added.
        if text.len() > 2 * PAPER_BYTES_MAX {
            return Err(Malformed(format!("expected a paper of at most {PAPER_BYTES_MAX} bytes")));
        }
        let (lines, signature) = text.rsplit_once(" | sig ").ok_or_else(expected)?;
        Ok(Self { paper: Paper::of_lines(lines.split(" | "))?, signature: signature.parse()? })
    }
}

/// A paper that the host wrote for a player without a key, with the time at which the player sent it, as far as the host
/// knows, and the hash of the reply code that the player gave. In one line it is written
/// `LINE | LINE | … | sent TIME | code HASH`; the log holds this text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PlainPaper {
    paper: Paper,
    sent: Option<DeskTime>,
    code: Digest,
}

impl PlainPaper {
    /// Combines a paper and the reply code that came with it. Only a hash of the code is kept, which no one can compare
    /// with the hash in another paper.
    #[must_use]
    pub fn new(paper: Paper, code: &str) -> Self {
        let text = format!("{} {code}", paper.head().nonce);
        let code = Digest::new(blake3::derive_key("turnfold v2 reply code", text.as_bytes()));
        Self { paper, sent: None, code }
    }

    /// Notes when the player sent it.
    #[must_use]
    pub fn sent(self, sent: Option<DeskTime>) -> Self {
        Self { sent, ..self }
    }

    /// Returns when the player sent it.
    #[must_use]
    pub const fn sent_at(&self) -> Option<DeskTime> {
        self.sent
    }

    /// Returns the paper.
    #[must_use]
    pub const fn paper(&self) -> &Paper {
        &self.paper
    }
}

impl fmt::Display for PlainPaper {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", in_one_line(&self.paper))?;
        if let Some(sent) = self.sent {
            write!(out, " | sent {sent}")?;
        }
        write!(out, " | code {}", self.code)
    }
}

impl FromStr for PlainPaper {
    type Err = Malformed;

    fn from_str(text: &str) -> Result<Self, Malformed> {
        let expected = || Malformed::expected("a paper in one line, `LINE | … | code HASH`", text);
        if text.len() > 2 * PAPER_BYTES_MAX {
            return Err(Malformed(format!("expected a paper of at most {PAPER_BYTES_MAX} bytes")));
        }
        let (lines, code) = text.rsplit_once(" | code ").ok_or_else(expected)?;
        let (lines, sent) = match lines.rsplit_once(" | sent ") {
            Some((lines, sent)) => (lines, Some(sent.parse()?)),
            None => (lines, None),
        };
        let code = code.parse().map_err(|_| expected())?;
        Ok(Self { paper: Paper::of_lines(lines.split(" | "))?, sent, code })
    }
}

stored_as_text!(SignedPaper, PlainPaper);
