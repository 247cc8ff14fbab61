//! Digests: what they look like, and the hash of a state.

use core::fmt;
use core::str::FromStr;

use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

use crate::rules::Rules;

/// A 32-byte blake3 digest; shown as 64 hex digits, with `{:.16}` as the first 16.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Digest([u8; 32]);

impl Digest {
    /// Wraps the bytes of a digest.
    #[must_use]
    pub const fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Gives the bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
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
        let lowercase = !text.bytes().any(|byte| byte.is_ascii_uppercase());
        let parsed = blake3::Hash::from_hex(text).ok().filter(|_| lowercase);
        parsed.map(Self::from).ok_or_else(|| NotADigest(text.into()))
    }
}

/// Gives the hash that a version of a ruleset gives to a state of these bytes.
///
/// With it a hash recorded under another version can be compared, as long as both encode the state alike.
///
/// # Panics
/// Never: a name and a number always encode.
#[must_use]
pub fn hash_as(ruleset: &str, version: u32, state: &[u8]) -> Digest {
    let mut bytes = postcard::to_allocvec(&(ruleset, version)).expect("plain data encodes");
    bytes.extend_from_slice(state);
    StateHasher::default().hasher.update(&bytes).finalize().into()
}

/// Computes state hashes, reusing its buffers from one state to the next.
///
/// The hash is blake3 in derive-key mode, context `turnfold v1 state`, over
/// `postcard(ruleset name) ‖ postcard(ruleset version) ‖ postcard(State)`.
#[derive(Clone, Debug)]
pub struct StateHasher {
    hasher: blake3::Hasher,
    bytes: Vec<u8>,
}

impl Default for StateHasher {
    fn default() -> Self {
        Self { hasher: blake3::Hasher::new_derive_key("turnfold v1 state"), bytes: Vec::new() }
    }
}

impl StateHasher {
    /// Hashes a state of ruleset `R`.
    ///
    /// # Panics
    /// Never: states are plain data, which postcard always encodes.
    pub fn hash<R: Rules>(&mut self, state: &R::State) -> Digest {
        self.bytes.clear();
        let value = (R::NAME, R::VERSION, state);
        postcard::serialize_with_flavor(&value, Reused(&mut self.bytes)).expect("plain data encodes");
        self.hasher.reset();
        self.hasher.update(&self.bytes).finalize().into()
    }
}

/// A buffer that postcard writes to and that keeps its room.
///
/// Nearly all of a state is numbers of one byte, which are written faster one by one than copied as slices.
struct Reused<'a>(&'a mut Vec<u8>);

impl postcard::ser_flavors::Flavor for Reused<'_> {
    type Output = ();

    #[inline]
    fn try_push(&mut self, byte: u8) -> postcard::Result<()> {
        self.0.push(byte);
        Ok(())
    }

    #[inline]
    fn try_extend(&mut self, bytes: &[u8]) -> postcard::Result<()> {
        if let [byte] = bytes {
            self.0.push(*byte);
        } else {
            self.0.extend_from_slice(bytes);
        }
        Ok(())
    }

    fn finalize(self) -> postcard::Result<()> {
        Ok(())
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
