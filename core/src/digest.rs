//! Digests and their text.

use core::fmt;
use core::str::FromStr;

use alloc::string::String;
use serde::{Deserialize, Serialize, Serializer};

use crate::text::Malformed;

/// A 32-byte blake3 digest; shown as 64 hex digits, with `{:.16}` as the first 16.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
pub struct Digest([u8; 32]);

impl Digest {
    /// Wraps the bytes of a digest.
    #[must_use]
    pub const fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Returns the bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Reads a digest as a word of a command or paper.
    pub(crate) fn read(word: &str) -> Result<Self, Malformed> {
        word.parse().map_err(|_| Malformed::expected("64 lowercase hex digits", word))
    }
}

/// Writes hex digits into text formats such as JSON, which are not read back, and bytes into the log.
impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            serializer.collect_str(self)
        } else {
            self.0.serialize(serializer)
        }
    }
}

impl From<blake3::Hash> for Digest {
    fn from(hash: blake3::Hash) -> Self {
        Self(hash.into())
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hex = blake3::Hash::from_bytes(self.0).to_hex();
        out.pad(hex.as_str())
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

/// Text that is not 64 lowercase hex digits.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected 64 lowercase hex digits, found `{0}`")]
pub struct NotADigest(String);

impl FromStr for Digest {
    type Err = NotADigest;

    fn from_str(text: &str) -> Result<Self, NotADigest> {
        let is_lowercase = !text.bytes().any(|byte| byte.is_ascii_uppercase());
        match blake3::Hash::from_hex(text) {
            Ok(hash) if is_lowercase => Ok(hash.into()),
            _ => Err(NotADigest(text.into())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;

    #[test]
    fn digests_read_back_and_shorten() {
        let digest = Digest::new([0xa5; 32]);
        assert_eq!(format!("{digest}").parse(), Ok(digest));
        assert_eq!(format!("{digest:.16}"), "a5a5a5a5a5a5a5a5");
        assert!("A5".repeat(32).parse::<Digest>().is_err());
    }
}
