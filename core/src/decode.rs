//! Strict decoding: a value has one encoding, and nothing follows it. Also encoding into a buffer.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

/// Bytes that are not exactly the canonical encoding of a value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(tag = "kind", content = "message", rename_all = "snake_case", deny_unknown_fields)]
pub enum DecodeError {
    /// They cannot be read at all.
    #[error("undecodable bytes: {0}")]
    Unreadable(String),
    /// More bytes follow the value.
    #[error("{0} surplus bytes after the value")]
    Surplus(usize),
    /// They can be read, but are not the canonical encoding.
    #[error("bytes are not the canonical encoding of their value")]
    NotCanonical,
}

/// Decodes a value, which may borrow from its bytes. It must use all bytes, and encoding it must give the same bytes.
///
/// # Errors
/// [`DecodeError`]; postcard alone would accept surplus bytes and overlong integers.
pub fn decode_strictly<'a, T: Deserialize<'a> + Serialize>(bytes: &'a [u8]) -> Result<T, DecodeError> {
    let unreadable = |error: postcard::Error| DecodeError::Unreadable(error.to_string());
    let (value, rest) = postcard::take_from_bytes::<T>(bytes).map_err(unreadable)?;
    if !rest.is_empty() {
        return Err(DecodeError::Surplus(rest.len()));
    }
    // The buffer has room for as many bytes as there should be, so it need not grow. To compare without a buffer would
    // make modules 2 % larger, because every type would be encoded in a second way.
    let mut encoded = Vec::with_capacity(bytes.len());
    encode_into(&value, &mut encoded);
    if encoded != bytes {
        return Err(DecodeError::NotCanonical);
    }
    Ok(value)
}

/// Appends the encoding of a value to a buffer, which keeps its capacity for the next value.
///
/// # Panics
/// Never for the plain data of rulesets, which postcard always encodes.
pub fn encode_into(value: &impl Serialize, bytes: &mut Vec<u8>) {
    postcard::serialize_with_flavor(value, Reused(bytes)).expect("plain data encodes");
}

/// A buffer that postcard writes to and that keeps its capacity.
///
/// Most of a state is numbers of one byte, which are written faster one by one than copied as slices.
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

    #[test]
    fn only_the_canonical_bytes_decode() {
        assert_eq!(decode_strictly::<u32>(&[5]), Ok(5));
        assert_eq!(decode_strictly::<u32>(&[5, 0]), Err(DecodeError::Surplus(1)));
        assert_eq!(decode_strictly::<u32>(&[0x85, 0]), Err(DecodeError::NotCanonical));
        assert!(matches!(decode_strictly::<u32>(&[0x85]), Err(DecodeError::Unreadable(_))));
    }
}
