//! What can go wrong with a line of play.

use turnfold_store::{ErrorKind, StoreError};

use crate::tfl::TflError;

/// What went wrong, where, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ReplayError {
    pub kind: ErrorKind,
    pub message: String,
    pub hint: Option<String>,
}

impl ReplayError {
    fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), hint: None }
    }

    pub fn negative(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Negative, message)
    }

    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Unusable, message)
    }

    pub fn trouble(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Trouble, message)
    }

    /// Adds what to do next.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl From<StoreError> for ReplayError {
    fn from(error: StoreError) -> Self {
        let failure = Self::new(error.kind(), error.to_string());
        match &error {
            StoreError::NoSuchMatch { .. } => failure.hint("`turnfold matches` lists those there are"),
            StoreError::NoSuchBranch { match_name, .. } => {
                failure.hint(format!("`turnfold branches {match_name}` lists those there are"))
            }
            _ => failure,
        }
    }
}

/// A replay file that is unusable.
impl From<TflError> for ReplayError {
    fn from(error: TflError) -> Self {
        Self::usage(error.to_string())
    }
}
