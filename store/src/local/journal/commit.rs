//! Commits: their numbers, and the digest by which each proves all before it.

use turnfold_core::Digest;

/// Differs from journal to journal; part of every check, so that nothing a player writes can look like a frame.
pub(crate) type Salt = [u8; 16];

/// A commit by its number, and the digest after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Point {
    pub(crate) number: u64,
    pub(crate) digest: Digest,
}

impl Point {
    /// Before the first commit of a journal.
    pub(crate) fn start(salt: &Salt) -> Self {
        Self { number: 0, digest: Digest::new(blake3::derive_key("turnfold v2 journal", salt)) }
    }

    /// After the commit that follows.
    pub(crate) fn after(&self, body: &[u8]) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key("turnfold v2 commit");
        hasher.update(self.digest.as_bytes()).update(body);
        Self { number: self.number + 1, digest: hasher.finalize().into() }
    }
}

/// Computes checks of one kind, deriving its key only once.
#[derive(Clone)]
pub(crate) struct Checker {
    fresh: blake3::Hasher,
}

impl Checker {
    /// For a kind of frame in the journal with this salt.
    pub(crate) fn new(context: &'static str, salt: &Salt) -> Self {
        let mut fresh = blake3::Hasher::new_derive_key(context);
        fresh.update(salt);
        Self { fresh }
    }

    /// Returns the check of parts; all but the last have lengths of their own.
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

/// The first bytes of every file of a journal: what it is, its salt and the check of both.
pub(crate) const HEADER_BYTES: usize = 64;

const MAGIC: &[u8; 32] = b"turnfold journal 1             \n";

/// Returns how a file of the journal with this salt begins.
pub(crate) fn header(salt: &Salt) -> [u8; HEADER_BYTES] {
    let check: [u8; 16] = Checker::new("turnfold v2 header", salt).check(&[MAGIC]);
    let mut header = [0; HEADER_BYTES];
    for (to, from) in header.iter_mut().zip([&MAGIC[..], salt, &check].concat()) {
        *to = from;
    }
    header
}

/// Reads how a file of a journal begins; `None` if it is none.
pub(crate) fn read_header(bytes: &[u8]) -> Option<Salt> {
    let found = bytes.first_chunk::<HEADER_BYTES>()?;
    let salt: Salt = found.get(32..48)?.try_into().ok()?;
    (header(&salt) == *found).then_some(salt)
}

/// Reads consecutive fields of fixed length from the front of bytes.
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
