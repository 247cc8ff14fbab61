//! Commits: their numbers, their operations, and the digest that proves a commit and all before it.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};
use turnfold_core::Digest;

use crate::entry::Seq;
use crate::grant::Grant;
use crate::names::{BranchName, MatchName};
use crate::note::{NoteId, PlacedNote};

/// A random value that every check includes, so that nothing a player writes can pass for a frame. Each journal has its
/// own.
pub(crate) type Salt = [u8; 16];

/// A hasher that has the key of digests and no input. It is cloned for each commit, because deriving the key costs as much
/// as hashing a short one.
static KEYED_HASHER: LazyLock<blake3::Hasher> =
    LazyLock::new(|| blake3::Hasher::new_derive_key("turnfold v2 commit"));

/// A commit. The field order is the format of the record about the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Point {
    pub(crate) number: u64,
    pub(crate) digest: Digest,
}

impl Point {
    pub(crate) fn start(salt: &Salt) -> Self {
        Self { number: 0, digest: Digest::new(blake3::derive_key("turnfold v2 journal", salt)) }
    }

    pub(crate) fn after(&self, body: &[u8]) -> Self {
        let mut hasher = KEYED_HASHER.clone();
        hasher.update(self.digest.as_bytes()).update(body);
        Self { number: self.number + 1, digest: hasher.finalize().into() }
    }
}

#[derive(Clone)]
pub(crate) struct Checker {
    /// It has the key of one kind of checks, so that the key is derived only once.
    fresh: blake3::Hasher,
}

impl Checker {
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

pub(crate) const HEADER_BYTES: usize = 64;

const MAGIC: &[u8; 32] = b"turnfold journal 1             \n";

pub(crate) fn header(salt: &Salt) -> [u8; HEADER_BYTES] {
    let check: [u8; 16] = Checker::new("turnfold v2 header", salt).check(&[MAGIC]);
    let mut header = [0; HEADER_BYTES];
    header[..32].copy_from_slice(MAGIC);
    header[32..48].copy_from_slice(salt);
    header[48..].copy_from_slice(&check);
    header
}

pub(crate) fn read_header(bytes: &[u8]) -> Option<Salt> {
    let found = bytes.first_chunk::<HEADER_BYTES>()?;
    let salt: Salt = found.get(32..48)?.try_into().ok()?;
    (header(&salt) == *found).then_some(salt)
}

const SEAL_CHECK_BYTES: usize = 16;

pub(crate) const SEALED_BYTES: usize = SEAL_CHECK_BYTES + 8 + 32;

pub(crate) fn seal(context: &'static str, salt: &Salt, point: Point) -> Vec<u8> {
    let body = [&point.number.to_le_bytes()[..], point.digest.as_bytes()].concat();
    let check: [u8; SEAL_CHECK_BYTES] = Checker::new(context, salt).check(&[&body]);
    [&check[..], &body].concat()
}

pub(crate) fn unseal(context: &'static str, salt: &Salt, bytes: &[u8]) -> Option<Point> {
    let mut fields = Fields(bytes.get(SEAL_CHECK_BYTES..)?);
    let point = Point { number: fields.u64()?, digest: fields.digest()? };
    bytes.starts_with(&seal(context, salt, point)).then_some(point)
}

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

/// The only version of a commit's body, which is its first byte.
pub(crate) const BODY_VERSION: u8 = 1;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Op<'a> {
    /// Creates a match with the id `id`, and its branch `main` with the next id.
    CreateMatch {
        id: u64,
        name: MatchName,
        genesis: &'a [u8],
    },
    /// Creates a branch after entry `at` of its parent; `link` is the parent's link there.
    CreateBranch {
        id: u64,
        match_name: MatchName,
        name: BranchName,
        parent: BranchName,
        at: Seq,
        link: Digest,
    },
    /// Appends encoded entries to a branch; `link` is the branch's link after them.
    Append {
        branch: u64,
        link: Digest,
        #[serde(borrow)]
        entries: Vec<&'a [u8]>,
    },
    RenameMatch {
        name: MatchName,
        new: MatchName,
    },
    RenameBranch {
        match_name: MatchName,
        name: BranchName,
        new: BranchName,
    },
    DeleteMatch {
        name: MatchName,
    },
    DeleteBranch {
        match_name: MatchName,
        name: BranchName,
    },
    /// Makes or replaces a grant.
    SetGrant {
        hash: Digest,
        grant: Grant,
    },
    RemoveGrant {
        match_name: MatchName,
        hash: Digest,
    },
    /// Records the first module that appends entries to a match whose setup pins none (MD-9).
    RecordModule {
        match_name: MatchName,
        module: Digest,
    },
    /// Writes a note.
    SetNote {
        match_name: MatchName,
        note: PlacedNote,
    },
    RemoveNote {
        match_name: MatchName,
        id: NoteId,
    },
}

/// Reads the operations of a commit's body in order. It ends with one `Err(())` where the version or an operation
/// cannot be read.
pub(crate) fn read_ops(body: &[u8]) -> impl Iterator<Item = Result<Op<'_>, ()>> {
    let mut rest = match body.split_first() {
        Some((&BODY_VERSION, rest)) => Some(rest),
        _ => None,
    };
    let mut has_failed = false;
    std::iter::from_fn(move || {
        if has_failed || rest == Some(&[][..]) {
            return None;
        }
        if let Some(left) = rest
            && let Ok((op, behind)) = postcard::take_from_bytes(left)
        {
            rest = Some(behind);
            return Some(Ok(op));
        }
        has_failed = true;
        Some(Err(()))
    })
}
