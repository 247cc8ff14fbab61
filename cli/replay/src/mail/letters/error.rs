//! Why a letter cannot be written.

use std::io;
use std::path::PathBuf;

use crate::bundle::BundleError;
use crate::error::ReplayError;
use crate::input::InputError;
use crate::signing::SigningError;

/// Why a letter cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum LetterError {
    /// The logs of desk and game.
    #[error(transparent)]
    Replay(Box<ReplayError>),
    /// The bundle that goes with it.
    #[error(transparent)]
    Bundle(Box<BundleError>),
    /// The host's signature.
    #[error(transparent)]
    Signing(Box<SigningError>),
    /// The file with addresses cannot be read.
    #[error(transparent)]
    Input(#[from] InputError),
    /// The file with addresses holds something else.
    #[error("`{}`: {why}", path.display())]
    Addresses {
        /// The file.
        path: PathBuf,
        /// What is wrong with it, by line.
        why: String,
    },
    /// The folder of letters.
    #[error("cannot write to the outbox: {0}")]
    Outbox(#[from] io::Error),
}

impl From<turnfold_store::StoreError> for LetterError {
    fn from(error: turnfold_store::StoreError) -> Self {
        ReplayError::from(error).into()
    }
}

impl From<ReplayError> for LetterError {
    fn from(error: ReplayError) -> Self {
        Self::Replay(error.into())
    }
}

impl From<BundleError> for LetterError {
    fn from(error: BundleError) -> Self {
        Self::Bundle(error.into())
    }
}

impl From<SigningError> for LetterError {
    fn from(error: SigningError) -> Self {
        Self::Signing(error.into())
    }
}
