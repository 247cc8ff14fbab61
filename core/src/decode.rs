//! Strict decoding: a value has one encoding, and nothing follows it.

use alloc::string::{String, ToString};

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

/// Decodes a value, which may borrow from its bytes, requiring that all bytes are used and that encoding it again gives the same bytes.
///
/// # Errors
/// [`DecodeError`]; postcard alone would accept surplus bytes and overlong integers.
pub fn decode_strictly<'a, T: Deserialize<'a> + Serialize>(bytes: &'a [u8]) -> Result<T, DecodeError> {
    let unreadable = |error: postcard::Error| DecodeError::Unreadable(error.to_string());
    let (value, rest) = postcard::take_from_bytes::<T>(bytes).map_err(unreadable)?;
    if !rest.is_empty() {
        return Err(DecodeError::Surplus(rest.len()));
    }
    if postcard::to_allocvec(&value).map_err(unreadable)? != bytes {
        return Err(DecodeError::NotCanonical);
    }
    Ok(value)
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
