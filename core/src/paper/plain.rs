//! Papers that no key signed: what a player without a key sent, as the host wrote it down (PM-38).

use core::fmt;
use core::str::FromStr;

use alloc::format;
use alloc::string::{String, ToString};

use serde::{Deserialize, Serialize};

use super::text::in_one_line;
use super::time::DeskTime;
use super::unsigned::{PAPER_BYTES_MAX, Paper};
use crate::digest::Digest;
use crate::text::Malformed;

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
    /// Puts together a paper and the reply code with which it came. Of the code only a hash is kept, which no one can
    /// compare with the hash in another paper.
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

impl From<PlainPaper> for String {
    fn from(paper: PlainPaper) -> Self {
        paper.to_string()
    }
}

impl TryFrom<String> for PlainPaper {
    type Error = Malformed;

    fn try_from(text: String) -> Result<Self, Malformed> {
        text.parse()
    }
}
