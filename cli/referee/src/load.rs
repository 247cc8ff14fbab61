//! The file of a module: its errors, its digest, and the rules that it becomes.

use std::sync::Arc;

use turnfold_core::{AnyRules, Digest};

#[cfg(feature = "interpreter")]
use crate::{module::Module, referee::Referee, rules::RefereeRules};

/// Why a file is not a module, in one line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The file is not WebAssembly, or uses a part of it that modules may not use (MD-3).
    #[error("no WebAssembly of a module: {0}")]
    NoWebAssembly(String),
    /// The file is WebAssembly, but not a ruleset.
    #[error("no module of a game: {0}")]
    NoModule(String),
    /// This build cannot run modules.
    #[error("this build was made without its feature `modules`")]
    NoInterpreter,
}

/// Returns the digest of a module's file, by which a match pins it (MD-1).
#[must_use]
pub fn digest(file: &[u8]) -> Digest {
    blake3::hash(file).into()
}

/// Loads a module: checks its form, and asks it which ruleset it is.
///
/// # Errors
/// [`LoadError`] if the file is not a module, or if this build cannot run modules.
pub fn load(file: &[u8]) -> Result<Arc<dyn AnyRules>, LoadError> {
    #[cfg(feature = "interpreter")]
    {
        let module = Module::load(file, digest(file))?;
        let referee = Referee::start(Box::new(module));
        let referee = referee.map_err(|stop| LoadError::NoModule(stop.to_string()))?;
        Ok(Arc::new(RefereeRules::new(referee)))
    }

    #[cfg(not(feature = "interpreter"))]
    {
        let _ = file;
        Err(LoadError::NoInterpreter)
    }
}
