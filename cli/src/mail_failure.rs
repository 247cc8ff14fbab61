//! What goes wrong at the host of a match by mail, and the exit code it becomes.

use turnfold_replay::mail::{LetterError, MailError};

use crate::failure::Failure;

impl From<MailError> for Failure {
    fn from(error: MailError) -> Self {
        match error {
            MailError::Replay(error) => (*error).into(),
            MailError::Signing(error) => (*error).into(),
            MailError::Refused(_) => Self::negative(error.to_string()),
            error => Self::usage(error.to_string()),
        }
    }
}

impl From<LetterError> for Failure {
    fn from(error: LetterError) -> Self {
        match error {
            LetterError::Replay(error) => (*error).into(),
            LetterError::Bundle(error) => (*error).into(),
            LetterError::Signing(error) => (*error).into(),
            LetterError::Input(error) => error.into(),
            LetterError::Addresses { .. } => Self::usage(error.to_string()),
            LetterError::Outbox(_) => Self::trouble(error.to_string()),
        }
    }
}
