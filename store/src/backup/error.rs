//! The errors of backups and rescue.

use std::io;
use std::path::{Path, PathBuf};

use crate::error::text::place;
use crate::error::{ErrorKind, StoreError};
use crate::names::{BranchName, MatchName};

/// Why a backup or a rescue failed. The store that it reads from is never changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RescueError {
    /// The error of a store.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The input is no backup.
    #[error("not a turnfold backup: unrecognized header")]
    NotABackup,
    /// The backup was written by a build with another format.
    #[error("the backup has the format `{}`, this build knows `turnfold backup 2`", found.escape_debug())]
    UnknownFormat {
        /// The format in the backup's header.
        found: String,
    },
    /// The backup is not as it was written.
    #[error("the backup is damaged: {}{reason}; nothing was restored", place(match_name.as_ref(), branch.as_ref(), *seq))]
    DamagedBackup {
        /// The match at which damage was found.
        match_name: Option<MatchName>,
        /// The branch of that match.
        branch: Option<BranchName>,
        /// The first entry of that branch that was not found sound.
        seq: Option<u64>,
        /// What is wrong.
        reason: String,
    },
    /// The place for a new store is not empty.
    #[error("`{}` exists and is not empty", dir.display())]
    NotEmpty {
        /// The directory.
        dir: PathBuf,
    },
    /// Nothing could be saved.
    #[error("nothing could be read from `{}`: {reason}", dir.display())]
    NothingReadable {
        /// The directory.
        dir: PathBuf,
        /// The reason.
        reason: String,
    },
    /// The backup cannot be written.
    #[error("cannot write the backup: {source}")]
    Write {
        /// The error of the operating system.
        source: io::Error,
    },
    /// Reading or writing failed.
    #[error("cannot {action}: {source}")]
    Io {
        /// The failed action, which completes "cannot …".
        action: String,
        /// The error of the operating system.
        source: io::Error,
    },
}

impl RescueError {
    /// Classifies the error by its meaning to the caller.
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

    pub(crate) fn damaged(reason: impl Into<String>) -> Self {
        Self::DamagedBackup { match_name: None, branch: None, seq: None, reason: reason.into() }
    }

    pub(crate) fn on<T>(path: &Path, action: &str, done: io::Result<T>) -> Result<T, Self> {
        done.map_err(|source| Self::Io { action: format!("{action} `{}`", path.display()), source })
    }
}
