//! Decodes the store's records, which must be exactly what encoding writes.

use postcard::ser_flavors::{Flavor, Size};
use serde::{Deserialize, Serialize};
use turnfold_core::decode::DecodeError;

/// Decodes a value as [`turnfold_core::decode::decode_strictly`] does, but encodes it again without a buffer.
///
/// # Errors
/// [`DecodeError`].
pub(crate) fn decode_exactly<'a, T: Deserialize<'a> + Serialize>(bytes: &'a [u8]) -> Result<T, DecodeError> {
    let value = decode_all::<T>(bytes)?;
    match postcard::serialize_with_flavor(&value, Expected(bytes)) {
        Ok(true) => Ok(value),
        _ => Err(DecodeError::NotCanonical),
    }
}

/// Does what [`decode_exactly`] does for a value of numbers, bytes and text alone, only faster: logs of millions of entries
/// are read by this. In such a value only numbers have other encodings, and those are longer, so the length shows them.
///
/// # Errors
/// [`DecodeError`].
pub(crate) fn decode_data<'a, T: Deserialize<'a> + Serialize>(bytes: &'a [u8]) -> Result<T, DecodeError> {
    let value = decode_all::<T>(bytes)?;
    match postcard::serialize_with_flavor(&value, Size::default()) {
        Ok(size) if size == bytes.len() => Ok(value),
        _ => Err(DecodeError::NotCanonical),
    }
}

fn decode_all<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<T, DecodeError> {
    let (value, rest) =
        postcard::take_from_bytes::<T>(bytes).map_err(|error| DecodeError::Unreadable(error.to_string()))?;
    if rest.is_empty() { Ok(value) } else { Err(DecodeError::Surplus(rest.len())) }
}

/// The bytes that are still expected to be written.
struct Expected<'a>(&'a [u8]);

impl Flavor for Expected<'_> {
    /// Whether all were written.
    type Output = bool;

    #[inline]
    fn try_push(&mut self, byte: u8) -> postcard::Result<()> {
        match self.0.split_first() {
            Some((expected, rest)) if *expected == byte => {
                self.0 = rest;
                Ok(())
            }
            _ => Err(postcard::Error::SerializeBufferFull),
        }
    }

    #[inline]
    fn try_extend(&mut self, bytes: &[u8]) -> postcard::Result<()> {
        self.0 = self.0.strip_prefix(bytes).ok_or(postcard::Error::SerializeBufferFull)?;
        Ok(())
    }

    fn finalize(self) -> postcard::Result<bool> {
        Ok(self.0.is_empty())
    }
}
