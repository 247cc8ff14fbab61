//! The file of a module: what is wrong with one, its digest, and the rules that are made of it.

use std::sync::Arc;

use turnfold_core::{AnyRules, Digest};

#[cfg(feature = "interpreter")]
use crate::{module::Module, referee::Referee, rules::RefereeRules};

/// A file that is no module, described in one line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The file is no WebAssembly, or uses a part of it that modules may not use (MD-3).
    #[error("no WebAssembly of a module: {0}")]
    NoWebAssembly(String),
    /// The file is WebAssembly that is no ruleset.
    #[error("no module of a game: {0}")]
    NoModule(String),
    /// This build runs no module.
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
/// [`LoadError`] when the file is no module.
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
