//! The watermark: how much a store has committed.

use serde::{Deserialize, Serialize};
use turnfold_core::Digest;

use crate::names::{BranchName, MatchName};

/// How much the store has committed, the digest of all of it, and where it was last written to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Watermark {
    /// The committed groups, ever.
    pub commits: u64,
    /// The entries appended, ever.
    pub entries: u64,
    /// The digest over all commits in their order.
    pub digest: Digest,
    /// The end of the branch last appended to or created, if it is still there.
    pub last: Option<EntryRef>,
}

/// An entry of a branch of a match.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EntryRef {
    /// The match.
    pub match_name: MatchName,
    /// The branch.
    pub branch: BranchName,
    /// The entry.
    pub seq: u64,
}

impl Watermark {
    pub(crate) const NOTHING: Self =
        Self { commits: 0, entries: 0, digest: Digest::new([0; 32]), last: None };

    /// Returns `true` if it names a match, or a branch of it.
    pub(crate) fn names(&self, match_name: &MatchName, branch: Option<&BranchName>) -> bool {
        self.last.as_ref().is_some_and(|last| {
            last.match_name == *match_name && branch.is_none_or(|branch| last.branch == *branch)
        })
    }
}
