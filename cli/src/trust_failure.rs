//! What goes wrong with keys, bundles and imports of them, and the exit code it becomes.

use turnfold_replay::bundle::BundleError;
use turnfold_replay::bundle_import::ImportError;
use turnfold_replay::signing::SigningError;

use crate::failure::Failure;

impl From<SigningError> for Failure {
    fn from(error: SigningError) -> Self {
        match error {
            SigningError::Replay(error) => error.into(),
            SigningError::Input(error) => error.into(),
            SigningError::Bundle(error) => (*error).into(),
            error @ (SigningError::RolledBack { .. } | SigningError::AnotherHistory { .. }) => {
                Self::negative(error.to_string()).hint("import a newer bundle, or use a new key")
            }
            error @ SigningError::Refused(_) => Self::negative(error.to_string()),
            error @ SigningError::Unusable(_) => Self::usage(error.to_string()),
            error @ (SigningError::Io { .. } | SigningError::DamagedMemory { .. }) => {
                Self::trouble(error.to_string())
            }
        }
    }
}

impl From<BundleError> for Failure {
    fn from(error: BundleError) -> Self {
        match error {
            BundleError::Replay(error) => error.into(),
            BundleError::Input(error) => error.into(),
            BundleError::Write(error) => error.into(),
            error @ BundleError::Guessable { .. } => {
                Self::negative(error.to_string()).hint("leave out `--as`, and do not give that bundle away")
            }
            error @ BundleError::Changed(_) => Self::trouble(error.to_string()).hint("try again"),
            error => Self::usage(error.to_string()),
        }
    }
}

impl From<ImportError> for Failure {
    fn from(error: ImportError) -> Self {
        match error {
            ImportError::Bundle(error) => error.into(),
            ImportError::Unusable(reason) => Self::usage(reason),
            ImportError::Refused(reason) => Self::negative(reason),
        }
    }
}
