//! The chain: the link after an entry proves the entry and all before it.

use blake3::hazmat::{ContextKey, HasherExt, hash_derive_key_context};
use turnfold_core::Digest;

/// Returns the link before the first entry.
pub(crate) fn genesis_link(genesis: &[u8]) -> Digest {
    blake3::Hasher::new_derive_key("turnfold v1 genesis").update(genesis).finalize().into()
}

/// Computes the links of entries. It derives the context's key only once.
#[derive(Clone, Debug)]
pub struct Linker {
    key: ContextKey,
}

impl Default for Linker {
    fn default() -> Self {
        Self::new()
    }
}

impl Linker {
    /// Creates a linker, which can compute the links of any chain.
    #[must_use]
    pub fn new() -> Self {
        Self { key: hash_derive_key_context("turnfold v1 entry") }
    }

    /// Returns the link after an entry, from the link before it and the entry's bytes.
    #[must_use]
    pub fn link(&self, before: &Digest, entry: &[u8]) -> Digest {
        // A new hasher costs less than a copy of one, which has two kilobytes.
        blake3::Hasher::new_from_context_key(&self.key)
            .update(before.as_bytes())
            .update(entry)
            .finalize()
            .into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_what_the_format_requires() {
        let first = genesis_link(b"g");
        assert_eq!(first, Digest::new(blake3::derive_key("turnfold v1 genesis", b"g")));
        let bytes = [first.as_bytes(), &b"entry"[..]].concat();
        let expected = Digest::new(blake3::derive_key("turnfold v1 entry", &bytes));
        assert_eq!(Linker::new().link(&first, b"entry"), expected);
    }
}
