//! What goes wrong with a match by mail.

use std::io;
use std::path::PathBuf;

use turnfold_core::SetupError;
use turnfold_store::StoreError;

use crate::bundle::BundleError;
use crate::error::ReplayError;
use crate::error::input::InputError;
use crate::signing::SigningError;

/// What goes wrong with a match by mail, at its host or a player.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MailError {
    /// A match, key or option that cannot be used for it.
    #[error("{0}")]
    Unusable(String),
    /// What is there contradicts what was asked for; nothing has changed.
    #[error("{0}")]
    Refused(String),
    /// Terms of play that do not fit the game (PM-3).
    #[error(transparent)]
    Terms(SetupError),
    /// The game or the desk.
    #[error(transparent)]
    Replay(Box<ReplayError>),
    /// A key and its memory, and the bundle that it signs.
    #[error(transparent)]
    Signing(Box<SigningError>),
    /// The file with addresses cannot be read.
    #[error(transparent)]
    Input(#[from] InputError),
    /// The file with addresses is malformed.
    #[error("`{}`: {why}", path.display())]
    Addresses {
        /// The file.
        path: PathBuf,
        /// The line, and what is wrong with it.
        why: String,
    },
    /// The folder of letters cannot be written.
    #[error("cannot write to the outbox: {0}")]
    Outbox(#[from] io::Error),
}

impl MailError {
    /// A log that holds what no log of a match by mail can.
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
