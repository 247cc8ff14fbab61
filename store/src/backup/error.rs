//! What can go wrong with backups and new stores.

use std::io;
use std::path::{Path, PathBuf};

use crate::error::text::place;
use crate::error::{ErrorKind, StoreError};
use crate::names::{BranchName, MatchName};

/// What rescue refuses or fails to do. The store it begins with is never changed by a failure.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RescueError {
    /// A store does not answer.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// What was to be read is something else.
    #[error("not a turnfold backup: unrecognized header")]
    NotABackup,
    /// The backup was written by a build with another format.
    #[error("the backup has the format `{}`, this build knows `turnfold backup 2`", found.escape_debug())]
    UnknownFormat {
        /// The format it names.
        found: String,
    },
    /// The backup is not what was written.
    #[error("the backup is damaged: {}{reason}; nothing was restored", place(match_name.as_ref(), branch.as_ref(), *seq))]
    DamagedBackup {
        /// The match up to which it is sound.
        match_name: Option<MatchName>,
        /// The branch of that match.
        branch: Option<BranchName>,
        /// The first entry of that branch that is not sound.
        seq: Option<u64>,
        /// What is wrong.
        reason: String,
    },
    /// A new store was to be made where something is.
    #[error("`{}` exists and is not empty", dir.display())]
    NotEmpty {
        /// The directory.
        dir: PathBuf,
    },
    /// Nothing at all could be saved.
    #[error("nothing could be read from `{}`: {reason}", dir.display())]
    NothingReadable {
        /// The directory.
        dir: PathBuf,
        /// Why not.
        reason: String,
    },
    /// The backup cannot be written.
    #[error("cannot write the backup: {source}")]
    Write {
        /// What the operating system reports.
        source: io::Error,
    },
    /// Reading or writing failed.
    #[error("cannot {action}: {source}")]
    Io {
        /// What was being done.
        action: String,
        /// What the operating system reports.
        source: io::Error,
    },
}

impl RescueError {
    /// Sorts the error by what it means to the caller.
    #[must_use]
    pub const fn kind(&self) -> ErrorKind {
        match self {
            Self::Store(error) => error.kind(),
            Self::NotABackup | Self::NotEmpty { .. } => ErrorKind::Unusable,
            Self::UnknownFormat { .. }
            | Self::DamagedBackup { .. }
            | Self::NothingReadable { .. }
            | Self::Write { .. }
            | Self::Io { .. } => ErrorKind::Trouble,
        }
    }

    /// Reports that a backup is damaged, at a position not yet known.
    pub(crate) fn damaged(reason: impl Into<String>) -> Self {
        Self::DamagedBackup { match_name: None, branch: None, seq: None, reason: reason.into() }
    }

    pub(crate) fn io(action: &str, path: &Path, source: io::Error) -> Self {
        Self::Io { action: format!("{action} `{}`", path.display()), source }
    }
}
