//! The errors of desks, papers and letters.

use std::io;
use std::path::PathBuf;

use turnfold_core::{FoldError, Malformed, SetupError};
use turnfold_history::ReplayError;
use turnfold_history::input::InputError;
use turnfold_proof::ProofError;
use turnfold_store::StoreError;

/// An error of a match by mail.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MailError {
    /// A file with addresses of players that is malformed.
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
    /// A match, key, file or option that cannot be used for what is asked.
    #[error("{0}")]
    Unusable(String),
    /// The request conflicts with what is stored; nothing has changed.
    #[error("{0}")]
    Refused(String),
    /// Any other error of signatures and bundles, boxed to keep results small.
    #[error(transparent)]
    Proof(Box<ProofError>),
    /// Any other error of histories.
    #[error(transparent)]
    Replay(ReplayError),
}

impl From<ReplayError> for MailError {
    fn from(error: ReplayError) -> Self {
        match error {
            ReplayError::Unusable(why) => Self::Unusable(why),
            ReplayError::Refused(why) => Self::Refused(why),
            error => Self::Replay(error),
        }
    }
}

impl From<ProofError> for MailError {
    fn from(error: ProofError) -> Self {
        match error {
            ProofError::Replay(error) => error.into(),
            ProofError::Unusable(why) => Self::Unusable(why),
            ProofError::Refused(why) => Self::Refused(why),
            error => Self::Proof(Box::new(error)),
        }
    }
}

macro_rules! errors_of_histories {
    ($($error:ty),+) => {$(
        impl From<$error> for MailError {
            fn from(error: $error) -> Self {
                Self::Replay(error.into())
            }
        }
    )+};
}

errors_of_histories!(StoreError, InputError, SetupError, FoldError);

impl From<Malformed> for MailError {
    fn from(error: Malformed) -> Self {
        Self::Unusable(error.0)
    }
}

impl MailError {
    pub(crate) fn not_by_mail(what: impl std::fmt::Display) -> Self {
        Self::Refused(format!("the log is not one of a match by mail: {what}"))
    }
}
