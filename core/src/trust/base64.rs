//! Base64 with and without padding, with one spelling for each value (RFC 4648, section 4).

use alloc::string::String;
use alloc::vec::Vec;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};

/// Writes bytes.
pub(crate) fn encode(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// Reads bytes; `None` for anything but their canonical form.
pub(crate) fn decode(text: &str) -> Option<Vec<u8>> {
    STANDARD.decode(text).ok()
}

/// Writes bytes without padding.
pub(crate) fn encode_bare(bytes: &[u8]) -> String {
    STANDARD_NO_PAD.encode(bytes)
}

/// Reads bytes without padding; `None` for anything but their canonical form.
pub(crate) fn decode_bare(text: &str) -> Option<Vec<u8>> {
    STANDARD_NO_PAD.decode(text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_canonical_form_reads() {
        assert_eq!(decode("AA=="), Some(Vec::from([0])));
        for text in ["AB==", "AA", "AA=", "A A=", "AA==\n", "_w==", "=", "AA==AA=="] {
            assert_eq!(decode(text), None, "{text}");
        }
        assert_eq!(decode_bare("AA"), Some(Vec::from([0])));
        for text in ["AA==", "AB", "A", "A A", "AA\n", "_w"] {
            assert_eq!(decode_bare(text), None, "{text}");
        }
    }
}
