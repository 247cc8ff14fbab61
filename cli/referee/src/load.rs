//! Makes rules of a module.

use std::sync::Arc;

use turnfold_core::AnyRules;

use crate::file::LoadError;
#[cfg(feature = "interpreter")]
use crate::{file::digest, module::Module, referee::Referee, rules::RefereeRules};

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
