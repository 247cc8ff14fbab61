//! What goes wrong at the host of a match by mail.

use turnfold_core::SetupError;
use turnfold_store::StoreError;

use crate::bundle::BundleError;
use crate::error::ReplayError;
use crate::signing::SigningError;

/// Why the host's side of a match by mail does not go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MailError {
    /// A match, key or option that cannot be used for it.
    #[error("{0}")]
    Unusable(String),
    /// What is there does not go together; nothing was changed.
    #[error("{0}")]
    Refused(String),
    /// Terms of play that do not fit the game (PM-3).
    #[error(transparent)]
    Terms(SetupError),
    /// The game or the desk.
    #[error(transparent)]
    Replay(Box<ReplayError>),
    /// The host's key and its memory.
    #[error(transparent)]
    Signing(Box<SigningError>),
}

impl MailError {
    /// What a log holds, and cannot be there.
    pub(super) fn broken(what: impl std::fmt::Display) -> Self {
        Self::Refused(format!("the log is not one of a match by mail: {what}"))
    }
}

impl From<ReplayError> for MailError {
    fn from(error: ReplayError) -> Self {
        Self::Replay(error.into())
    }
}

impl From<SigningError> for MailError {
    fn from(error: SigningError) -> Self {
        Self::Signing(error.into())
    }
}

impl From<BundleError> for MailError {
    fn from(error: BundleError) -> Self {
        SigningError::from(error).into()
    }
}

impl From<StoreError> for MailError {
    fn from(error: StoreError) -> Self {
        ReplayError::from(error).into()
    }
}
