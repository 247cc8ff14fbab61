//! Rulesets that come as modules: one WebAssembly file that holds all of a game (MD-3 to MD-7).
//!
//! [`load`] gives a module as [`AnyRules`], like any ruleset that is built in. Nothing that a module answers is believed
//! before it was checked. A module that cannot go on, or that breaks a law, ends the operation with a
//! [`Fault`](turnfold_core::Fault).

#![forbid(unsafe_code)]

#[cfg(feature = "interpreter")]
mod fold;
mod folders;
#[cfg(feature = "interpreter")]
mod form;
#[cfg(feature = "interpreter")]
mod instance;
#[cfg(feature = "interpreter")]
mod laws;
#[cfg(feature = "interpreter")]
mod module;
#[cfg(feature = "interpreter")]
mod operations;
#[cfg(feature = "interpreter")]
mod rules;
#[cfg(feature = "interpreter")]
mod state;
#[cfg(feature = "interpreter")]
mod trial;

use std::sync::Arc;

use turnfold_core::{AnyRules, Digest};

#[cfg(feature = "interpreter")]
use crate::{module::Module, rules::ModuleRules};

pub use folders::{ModuleFile, ModuleFolders, read_module};

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
        let module = Arc::new(Module::load(file, digest(file))?);
        Ok(Arc::new(ModuleRules { module, distrusts: false }))
    }
    #[cfg(not(feature = "interpreter"))]
    {
        let _ = file;
        Err(LoadError::NoInterpreter)
    }
}
