//! What can go wrong with keys, bundles and audits.

use std::io;
use std::path::PathBuf;

use turnfold_core::{Malformed, SetupError};
use turnfold_history::{InputError, ReplayError, Viewer};
use turnfold_store::StoreError;

/// What went wrong with a proof.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProofError {
    /// The file's first line is not that of a bundle.
    #[error("`{0}` is no bundle: its first line is not `turnfold bundle 1`")]
    NotABundle(String),
    /// A bundle of another form (TR-21).
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
        /// A bundle that reveals too much.
        what: String,
        /// Who may not know all.
        viewer: Viewer,
    },
    /// A file or store that another process changed between two readings.
    #[error("`{0}` changed while it was read")]
    Changed(String),
    /// A bundle cannot be written.
    #[error("cannot write the bundle: {0}")]
    Write(#[source] io::Error),
    /// A branch that is shorter than the one that was signed (TR-11).
    #[error(
        "`{branch}` was rolled back: {signed} records are signed, but it has {found}; nothing was signed"
    )]
    RolledBack {
        /// The branch.
        branch: String,
        /// The size that is in memory.
        signed: u64,
        /// The size of the branch.
        found: u64,
    },
    /// A branch with another history than was signed (TR-11).
    #[error(
        "`{branch}` has another history: its first {signed} of {found} records differ from the signed checkpoint; nothing was signed"
    )]
    AnotherHistory {
        /// The branch.
        branch: String,
        /// The size that is in memory.
        signed: u64,
        /// The size of the branch.
        found: u64,
    },
    /// A key or its memory cannot be read or written.
    #[error("cannot {doing} `{}`: {cause}", path.display())]
    Key {
        /// What was to be done.
        doing: &'static str,
        /// The file.
        path: PathBuf,
        /// Why it could not.
        cause: io::Error,
    },
    /// Memory of a key that is no checkpoint of its branch.
    #[error("the memory `{}` is damaged: {reason}", path.display())]
    DamagedMemory {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A match, key, file or option that cannot be used for what is asked.
    #[error("{0}")]
    Unusable(String),
    /// What is there contradicts what was asked for; nothing has changed.
    #[error("{0}")]
    Refused(String),
    /// Anything else with the histories that are proven.
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
