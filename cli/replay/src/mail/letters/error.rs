//! Why a letter cannot be written.

use std::io;

use crate::bundle::BundleError;
use crate::error::ReplayError;
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
