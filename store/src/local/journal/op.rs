//! Operations: what a commit does, in as few bytes as it takes.

use serde::{Deserialize, Serialize};
use turnfold_core::{Digest, Seat};

use crate::entry::Seq;
use crate::grant::Grant;
use crate::names::{BranchName, MatchName};
use crate::note::{NoteId, PlacedNote};

/// The only version of a commit's body that there is; it is the body's first byte.
pub(crate) const VERSION: u8 = 1;

/// Something that a commit does. Variant and field order are the format.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Op<'a> {
    /// A match is made, and its `main`, whose id is the next one.
    CreateMatch {
        id: u64,
        name: MatchName,
        genesis: &'a [u8],
    },
    /// A branch is made, after entry `at` of its parent, whose link is repeated.
    CreateBranch {
        id: u64,
        match_name: MatchName,
        name: BranchName,
        parent: BranchName,
        at: Seq,
        link: Digest,
    },
    /// Encoded entries follow the last of a branch; `link` is the one after them.
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
    /// A grant is made or changed.
    SetGrant {
        hash: Digest,
        grant: Grant,
    },
    RemoveGrant {
        match_name: MatchName,
        hash: Digest,
    },
    /// Entries are appended by a module for the first time, to a match that pins none (MD-9).
    RecordModule {
        match_name: MatchName,
        module: Digest,
    },
    /// A note is written.
    SetNote {
        match_name: MatchName,
        note: PlacedNote,
    },
    RemoveNote {
        match_name: MatchName,
        id: NoteId,
    },
}

/// An entry, read only as far as the store has to know it. The field order is that of entries.
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

/// Reads the operations of a commit's body, one after another; ends with `Err(())` at what is none.
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
