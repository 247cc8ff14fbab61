//! Why nothing is signed.

use std::io;
use std::path::PathBuf;

use crate::bundle::BundleError;
use crate::error::ReplayError;
use crate::error::input::InputError;

/// Why nothing is signed.
#[derive(Debug, thiserror::Error)]
pub enum SigningError {
    /// The line is shorter than the one that was signed (TR-11).
    #[error("`{line}` was rolled back: {signed} records are signed, but it has {found}; nothing was signed")]
    RolledBack {
        /// The line.
        line: String,
        /// The size that is in memory.
        signed: u64,
        /// The size of the line.
        found: u64,
    },
    /// The line is not the one that was signed (TR-11).
    #[error(
        "`{line}` has another history: its first {signed} of {found} records differ from the signed checkpoint; nothing was signed"
    )]
    AnotherHistory {
        /// The line.
        line: String,
        /// The size that is in memory.
        signed: u64,
        /// The size of the line.
        found: u64,
    },
    /// A request that a witness or a signer refuses; nothing has changed.
    #[error("{0}")]
    Refused(String),
    /// A file or an option that is unusable.
    #[error("{0}")]
    Unusable(String),
    /// The key or its memory cannot be read or written.
    #[error("cannot {doing} `{}`: {cause}", path.display())]
    Io {
        /// What was to be done.
        doing: &'static str,
        /// The file.
        path: PathBuf,
        /// Why it could not.
        cause: io::Error,
    },
    /// Memory that is no checkpoint of its line.
    #[error("the memory `{}` is damaged: {reason}", path.display())]
    DamagedMemory {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A file that cannot be read.
    #[error(transparent)]
    Input(#[from] InputError),
    /// The history.
    #[error(transparent)]
    Replay(#[from] ReplayError),
    /// The records that are to be signed, or the bundle that they are written to.
    #[error(transparent)]
    Bundle(Box<BundleError>),
}

impl From<turnfold_store::StoreError> for SigningError {
    fn from(error: turnfold_store::StoreError) -> Self {
        Self::Replay(error.into())
    }
}

impl From<BundleError> for SigningError {
    fn from(error: BundleError) -> Self {
        Self::Bundle(error.into())
    }
}
