//! What can be wrong with a bundle.

use std::io;

use crate::error::ReplayError;
use crate::error::input::InputError;
use crate::viewer::Viewer;

/// What is wrong with a bundle, and where.
#[derive(Debug, thiserror::Error)]
pub enum BundleError {
    /// The file's first line is another one.
    #[error("`{0}` is no bundle: its first line is not `turnfold bundle 1`")]
    NotABundle(String),
    /// The file has another form than a bundle (TR-21).
    #[error("line {line}: {reason}")]
    Malformed {
        /// The line, from 1.
        line: u64,
        /// What is wrong.
        reason: String,
    },
    /// A file that an auditor names is none of those that can be read.
    #[error("`{path}`: {reason}")]
    Unusable {
        /// The file.
        path: String,
        /// What is wrong with it.
        reason: String,
    },
    /// What is to be left out for a seat could be guessed from what stays (TR-20).
    #[error("{what}, which {viewer} could use to guess what it may not know")]
    Guessable {
        /// A bundle that reveals too much.
        what: String,
        /// Who may not know all.
        viewer: Viewer,
    },
    /// The file was another one when it was read again.
    #[error("`{0}` changed while it was read")]
    Changed(String),
    /// The file cannot be read.
    #[error(transparent)]
    Input(#[from] InputError),
    /// A bundle cannot be written.
    #[error("cannot write the bundle: {0}")]
    Write(#[source] io::Error),
    /// What is read from, or what is done with the records.
    #[error(transparent)]
    Replay(#[from] ReplayError),
}

impl From<turnfold_store::StoreError> for BundleError {
    fn from(error: turnfold_store::StoreError) -> Self {
        Self::Replay(error.into())
    }
}
