//! Converts errors of file systems and backends, and adds the match, branch and entry that an error concerns.

use std::io;
use std::path::Path;

use super::store::StoreError;
use crate::local::backend::BackendError;
use crate::names::{BranchName, MatchName};

impl StoreError {
    pub(crate) fn damaged(reason: impl Into<String>) -> Self {
        Self::Corrupt { match_name: None, branch: None, seq: None, reason: reason.into() }
    }

    pub(crate) fn unopened(self) -> Self {
        match self {
            Self::Io { action, source } => Self::Unopened { action, source },
            other => other,
        }
    }

    pub(crate) fn at(self, the_seq: u64) -> Self {
        match self {
            Self::Corrupt { match_name, branch, seq, reason } => {
                Self::Corrupt { match_name, branch, seq: seq.or(Some(the_seq)), reason }
            }
            other => other,
        }
    }

    pub(crate) fn within(self, the_match: &MatchName, the_branch: Option<&BranchName>) -> Self {
        match self {
            Self::Corrupt { match_name, branch, seq, reason } => Self::Corrupt {
                match_name: match_name.or_else(|| Some(the_match.clone())),
                branch: branch.or_else(|| the_branch.cloned()),
                seq,
                reason,
            },
            other => other,
        }
    }

    /// Returns a copy of the error of a failed write, for the next caller that meets it.
    pub(crate) fn repeated(&self) -> Self {
        match self {
            Self::Full { source } => Self::Full { source: io::Error::new(source.kind(), source.to_string()) },
            Self::Unsettled { reason } => Self::Unsettled { reason: reason.clone() },
            Self::Failed { reason } => Self::Failed { reason: reason.clone() },
            other => Self::Failed { reason: other.to_string() },
        }
    }

    pub(crate) fn not_a_store(dir: &Path, reason: &str) -> Self {
        Self::NotAStore { dir: dir.to_owned(), reason: reason.to_owned() }
    }

    pub(crate) fn in_dir(dir: &Path, action: &str, path: &Path, source: io::Error) -> Self {
        match source.kind() {
            io::ErrorKind::PermissionDenied if action == "read" => {
                Self::Unreadable { dir: dir.to_owned(), source }
            }
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                Self::Unwritable { dir: dir.to_owned(), source }
            }
            io::ErrorKind::NotADirectory => Self::not_a_store(dir, "a part of its path is a file"),
            _ => Self::io(action, path, source),
        }
    }

    pub(crate) fn io(action: &str, path: &Path, source: io::Error) -> Self {
        Self::Io { action: format!("{action} `{}`", path.display()), source }
    }
}

/// A result whose error gets what it concerns, as far as it does not name that yet.
pub(crate) trait Placed<T> {
    fn at(self, seq: u64) -> Result<T, StoreError>;

    fn within(self, match_name: &MatchName, branch: Option<&BranchName>) -> Result<T, StoreError>;
}

impl<T, E: Into<StoreError>> Placed<T> for Result<T, E> {
    fn at(self, seq: u64) -> Result<T, StoreError> {
        self.map_err(|error| error.into().at(seq))
    }

    fn within(self, match_name: &MatchName, branch: Option<&BranchName>) -> Result<T, StoreError> {
        self.map_err(|error| error.into().within(match_name, branch))
    }
}

impl From<BackendError> for StoreError {
    fn from(error: BackendError) -> Self {
        match error {
            BackendError::Damaged(reason) => Self::damaged(reason),
            BackendError::Io { source, .. } if is_full(&source) => Self::Full { source },
            BackendError::Io { action, source } => Self::Io { action, source },
            BackendError::Unsynced { source } => Self::Io { action: "sync".to_owned(), source },
        }
    }
}

fn is_full(error: &io::Error) -> bool {
    use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    matches!(error.kind(), StorageFull | QuotaExceeded | FileTooLarge)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    #[test]
    fn damage_is_placed_as_exactly_as_it_is_known() {
        let corrupt = StoreError::damaged("its check is wrong");
        assert!(corrupt.to_string().starts_with("corrupt store: its check is wrong"));
        let name = "table-3".parse().unwrap();
        let placed = corrupt.within(&name, Some(&BranchName::main()));
        assert!(placed.to_string().starts_with("corrupt store: match `table-3`, branch `main`: its check"));
        assert_eq!(placed.kind(), ErrorKind::Trouble);
    }
}
