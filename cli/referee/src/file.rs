//! The file of a module.

use turnfold_core::Digest;

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
