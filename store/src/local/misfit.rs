//! Misfits: operations of a commit that do not follow from the commits before it.

use super::backend::BackendError;
use super::journal::image::damaged;
use crate::entry::Seq;
use crate::names::{BranchName, MatchName};

/// An operation of a commit that does not follow from the commits before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Misfit {
    /// It appends entries to a branch that is missing, or whose head is not the entry before them.
    Entries { branch: u64, expected: Option<Seq>, first: Seq, last: Seq },
    /// It names a match or branch that is missing, or creates one that already exists.
    Named { match_name: MatchName, branch: Option<BranchName> },
    /// It cannot be read, or is nothing that this build writes.
    Unreadable,
}

impl Misfit {
    /// Returns the error of a commit with this misfit.
    pub(crate) fn within(&self, commit: u64) -> BackendError {
        let what = match self {
            Self::Entries { first, .. } => {
                format!("entry {first} of a branch does not follow what is before it")
            }
            Self::Named { match_name, branch: None } => format!("match `{match_name}` is not as it was"),
            Self::Named { match_name, branch: Some(branch) } => {
                format!("branch `{branch}` of match `{match_name}` is not as it was")
            }
            Self::Unreadable => "it is not what this build writes".to_owned(),
        };
        damaged(format!("commit {commit}: {what}"))
    }
}

/// Why an operation is not carried out.
pub(crate) enum ReplayStop {
    Misfit(Misfit),
    Failed(BackendError),
}

impl From<BackendError> for ReplayStop {
    fn from(error: BackendError) -> Self {
        Self::Failed(error)
    }
}

impl ReplayStop {
    /// Returns the misfit of an operation that names this match or branch.
    pub(super) fn named(match_name: &MatchName, branch: Option<&BranchName>) -> Self {
        Self::Misfit(Misfit::Named { match_name: match_name.clone(), branch: branch.cloned() })
    }
}
