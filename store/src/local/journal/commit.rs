//! Commits: their numbers, and the digest that proves a commit and all before it.

use std::sync::LazyLock;

use turnfold_core::Digest;

/// A random value that every check includes, so that nothing a player writes can pass for a frame. Each journal has its
/// own.
pub(crate) type Salt = [u8; 16];

/// A hasher that has the key of digests and no input. It is cloned for each commit, because deriving the key costs as much
/// as hashing a short one.
static KEYED_HASHER: LazyLock<blake3::Hasher> =
    LazyLock::new(|| blake3::Hasher::new_derive_key("turnfold v2 commit"));

/// A position in a journal: the number of a commit, and the digest of all commits up to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Point {
    pub(crate) number: u64,
    pub(crate) digest: Digest,
}

impl Point {
    /// Returns the point before the first commit of a journal.
    pub(crate) fn start(salt: &Salt) -> Self {
        Self { number: 0, digest: Digest::new(blake3::derive_key("turnfold v2 journal", salt)) }
    }

    /// Returns the point after the next commit, whose body is `body`.
    pub(crate) fn after(&self, body: &[u8]) -> Self {
        let mut hasher = KEYED_HASHER.clone();
        hasher.update(self.digest.as_bytes()).update(body);
        Self { number: self.number + 1, digest: hasher.finalize().into() }
    }
}

/// Computes checks of one kind. It derives the key of that kind only once.
#[derive(Clone)]
pub(crate) struct Checker {
    fresh: blake3::Hasher,
}

impl Checker {
    /// Makes the checker of one kind of frame, for the journal with this salt.
    pub(crate) fn new(context: &'static str, salt: &Salt) -> Self {
        let mut fresh = blake3::Hasher::new_derive_key(context);
        fresh.update(salt);
        Self { fresh }
    }

    /// Returns the check of the parts together. Every part but the last needs a fixed or recorded length, because the
    /// check does not cover where parts begin.
    pub(crate) fn check<const BYTES: usize>(&self, parts: &[&[u8]]) -> [u8; BYTES] {
        let mut hasher = self.fresh.clone();
        for part in parts {
            hasher.update(part);
        }
        let mut check = [0; BYTES];
        hasher.finalize_xof().fill(&mut check);
        check
    }
}

/// The first bytes of every file of a journal: magic, salt and the check of both.
pub(crate) const HEADER_BYTES: usize = 64;

const MAGIC: &[u8; 32] = b"turnfold journal 1             \n";

/// Returns the header of the files of the journal with this salt.
pub(crate) fn header(salt: &Salt) -> [u8; HEADER_BYTES] {
    let check: [u8; 16] = Checker::new("turnfold v2 header", salt).check(&[MAGIC]);
    let mut header = [0; HEADER_BYTES];
    for (to, from) in header.iter_mut().zip([&MAGIC[..], salt, &check].concat()) {
        *to = from;
    }
    header
}

/// Reads the header of a journal's file and returns its salt; `None` if it is not a sound header.
pub(crate) fn read_header(bytes: &[u8]) -> Option<Salt> {
    let found = bytes.first_chunk::<HEADER_BYTES>()?;
    let salt: Salt = found.get(32..48)?.try_into().ok()?;
    (header(&salt) == *found).then_some(salt)
}

/// Reads consecutive fields from the front of bytes. A field that is cut short is `None`.
pub(crate) struct Fields<'a>(pub(crate) &'a [u8]);

impl<'a> Fields<'a> {
    pub(crate) fn take<const BYTES: usize>(&mut self) -> Option<[u8; BYTES]> {
        let (field, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*field)
    }

    pub(crate) fn u32(&mut self) -> Option<u32> {
        self.take().map(u32::from_le_bytes)
    }

    pub(crate) fn u64(&mut self) -> Option<u64> {
        self.take().map(u64::from_le_bytes)
    }

    pub(crate) fn digest(&mut self) -> Option<Digest> {
        self.take().map(Digest::new)
    }

    pub(crate) fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (bytes, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(bytes)
    }
}
