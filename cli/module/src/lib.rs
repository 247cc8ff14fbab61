//! Rulesets that come as modules: one WebAssembly file that holds all of a game (MD-3 to MD-7).
//!
//! [`load`] gives a module as [`AnyRules`], like any ruleset that is built in. Nothing that a module answers is believed
//! before it was checked. A module that cannot go on, or that breaks a law, ends the operation with a
//! [`Fault`](turnfold_core::Fault).

#![forbid(unsafe_code)]

mod fold;
mod folders;
mod form;
mod instance;
mod laws;
mod module;
mod operations;
mod rules;
mod state;
mod trial;

use std::sync::Arc;

use turnfold_core::{AnyRules, Digest};

use crate::module::Module;
use crate::rules::ModuleRules;

pub use folders::{ModuleFile, ModuleFolders, read_module};
pub use form::LoadError;

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
    let module = Arc::new(Module::load(file, digest(file))?);
    Ok(Arc::new(ModuleRules { module, distrusts: false }))
}
