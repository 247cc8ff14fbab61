//! What can go wrong with keys, bundles and audits.

use std::io;
use std::path::PathBuf;

use turnfold_core::{Malformed, SetupError};
use turnfold_history::input::InputError;
use turnfold_history::{ReplayError, Viewer};
use turnfold_store::StoreError;

/// What went wrong with a proof.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProofError {
    /// The file's first line is not that of a bundle.
    #[error("`{0}` is no bundle: its first line is not `turnfold bundle 1`")]
    NotABundle(String),
    /// A bundle whose form is wrong (TR-21).
    #[error("line {line}: {reason}")]
    Malformed {
        /// The line, from 1.
        line: u64,
        /// What is wrong.
        reason: String,
    },
    /// A bundle in which a seat could guess what is left out (TR-20).
    #[error("{what}, which {viewer} could use to guess what it may not know")]
    Guessable {
        /// What reveals too much.
        what: String,
        /// The viewer who could guess.
        viewer: Viewer,
    },
    /// A file or store that another process changed between two readings.
    #[error("`{0}` changed while it was read")]
    Changed(String),
    /// A bundle cannot be written.
    #[error("cannot write the bundle: {0}")]
    Write(#[source] io::Error),
    /// A branch that is shorter than what was signed of it (TR-11).
    #[error(
        "`{branch}` was rolled back: {signed} records are signed, but it has {found}; nothing was signed"
    )]
    RolledBack {
        /// The branch.
        branch: String,
        /// The size that the key remembers.
        signed: u64,
        /// The size of the branch.
        found: u64,
    },
    /// A branch whose history differs from the signed one (TR-11).
    #[error(
        "`{branch}` has another history: its first {signed} of {found} records differ from the signed checkpoint; nothing was signed"
    )]
    AnotherHistory {
        /// The branch.
        branch: String,
        /// The size that the key remembers.
        signed: u64,
        /// The size of the branch.
        found: u64,
    },
    /// There is no key file of that name.
    #[error("there is no key file `{}`", .0.display())]
    NoKeyFile(PathBuf),
    /// A branch, or the entry that is asked for, is not signed yet.
    #[error("{0}")]
    NotSigned(String),
    /// A key or its memory cannot be read or written.
    #[error("cannot {doing} `{}`: {cause}", path.display())]
    Key {
        /// What failed, as a verb and its object.
        doing: &'static str,
        /// The file.
        path: PathBuf,
        /// The cause.
        cause: io::Error,
    },
    /// A file in the memory of a key that is not a checkpoint of its branch.
    #[error("the memory `{}` is damaged: {reason}", path.display())]
    DamagedMemory {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A match, key, file or option that does not fit the request.
    #[error("{0}")]
    Unusable(String),
    /// The request contradicts what is stored; nothing was changed.
    #[error("{0}")]
    Refused(String),
    /// Any other error in the histories.
    #[error(transparent)]
    Replay(ReplayError),
}

impl From<ReplayError> for ProofError {
    fn from(error: ReplayError) -> Self {
        match error {
            ReplayError::Unusable(why) => Self::Unusable(why),
            ReplayError::Refused(why) => Self::Refused(why),
            error => Self::Replay(error),
        }
    }
}

impl From<StoreError> for ProofError {
    fn from(error: StoreError) -> Self {
        Self::Replay(error.into())
    }
}

impl From<InputError> for ProofError {
    fn from(error: InputError) -> Self {
        Self::Replay(error.into())
    }
}

impl From<SetupError> for ProofError {
    fn from(error: SetupError) -> Self {
        Self::Replay(error.into())
    }
}

impl From<Malformed> for ProofError {
    fn from(error: Malformed) -> Self {
        Self::Unusable(error.0)
    }
}
