//! The chain: the link after an entry proves the entry and all before it.

use turnfold_core::Digest;

pub(crate) fn genesis_link(genesis: &[u8]) -> Digest {
    blake3::Hasher::new_derive_key("turnfold v1 genesis").update(genesis).finalize().into()
}

/// Computes the links of entries. It derives the context's key only once.
#[derive(Clone, Debug)]
pub struct Linker {
    hasher: blake3::Hasher,
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
        Self { hasher: blake3::Hasher::new_derive_key("turnfold v1 entry") }
    }

    /// Returns the link after an entry, from the link before it and the entry's bytes.
    #[must_use]
    pub fn link(&mut self, before: &Digest, entry: &[u8]) -> Digest {
        // The hasher has two kilobytes, so it is used again, not copied or made anew.
        self.hasher.reset().update(before.as_bytes()).update(entry).finalize().into()
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
