//! The store as it is read.

use std::fmt;
use std::sync::Arc;

use crate::engine::EngineReader;

/// A store of matches, as far as it is read: there is nothing by which it could be changed.
///
/// Opened by itself it writes nothing at all in the store's directory, whatever is wrong there. Many may be open at a
/// time, but none while a [`Store`](crate::Store) is open.
#[derive(Clone)]
pub struct StoreReader {
    pub(crate) engine: Arc<dyn EngineReader>,
}

impl fmt::Debug for StoreReader {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("StoreReader").finish_non_exhaustive()
    }
}
