//! Makes rules of a module.

use std::sync::Arc;

use turnfold_core::AnyRules;

use crate::file::LoadError;
#[cfg(feature = "interpreter")]
use crate::{file::digest, module::Module, rules::ModuleRules};

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
