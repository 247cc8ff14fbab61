//! Operations: what a commit does, in a compact encoding.

use serde::{Deserialize, Serialize};
use turnfold_core::{Digest, Seat};

use crate::entry::Seq;
use crate::grant::Grant;
use crate::names::{BranchName, MatchName};
use crate::note::{NoteId, PlacedNote};

/// The only version of a commit's body, which is its first byte.
pub(crate) const VERSION: u8 = 1;

/// An operation of a commit. Variant and field order are the format.
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

/// The parts of an entry that the store needs. The field order is that of entries.
#[derive(Deserialize)]
pub(crate) struct EntryHead<'a> {
    pub(crate) seq: Seq,
    _seat: Seat,
    _command: &'a [u8],
    _recorded_at_ms: i64,
    pub(crate) idempotency_key: Option<&'a str>,
}

impl<'a> EntryHead<'a> {
    pub(crate) fn read(entry: &'a [u8]) -> Option<Self> {
        postcard::from_bytes(entry).ok()
    }
}

/// Reads the operations of a commit's body in order. It ends with one `Err(())` where the version or an operation
/// cannot be read.
pub(crate) fn read(body: &[u8]) -> impl Iterator<Item = Result<Op<'_>, ()>> {
    let (mut rest, mut has_ended) = match body.split_first() {
        Some((&VERSION, rest)) => (Some(rest), false),
        _ => (None, false),
    };
    std::iter::from_fn(move || {
        let left = match rest {
            None if has_ended => return None,
            None => {
                has_ended = true;
                return Some(Err(()));
            }
            Some([]) => return None,
            Some(left) => left,
        };
        let read = postcard::take_from_bytes(left).map_err(|_| ());
        (rest, has_ended) = read.as_ref().map_or((None, true), |(_, after)| (Some(*after), has_ended));
        Some(read.map(|(op, _)| op))
    })
}
