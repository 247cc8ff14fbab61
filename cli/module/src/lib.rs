//! Rulesets that come as modules: one WebAssembly file that holds all of a game (MD-3 to MD-7).
//!
//! [`load`] gives a module as [`AnyRules`], like any ruleset that is built in.

#![forbid(unsafe_code)]

use std::sync::Arc;

use turnfold_core::{AnyRules, Digest};

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
    wasmparser::validate(file).map_err(|error| LoadError::NoWebAssembly(error.message().to_owned()))?;
    Err(LoadError::NoModule)
}

/// A file that is no module, described in one line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The file is no WebAssembly.
    #[error("no WebAssembly: {0}")]
    NoWebAssembly(String),
    /// The file is WebAssembly that holds no ruleset.
    #[error("a WebAssembly file, but no module of a game")]
    NoModule,
}
