//! Base64 with padding, in the one way to write each value (RFC 4648, section 4).

use alloc::string::String;
use alloc::vec::Vec;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// Writes bytes.
pub(super) fn encode(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// Reads bytes; `None` for anything but their canonical form.
pub(super) fn decode(text: &str) -> Option<Vec<u8>> {
    STANDARD.decode(text).ok()
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
    }
}
