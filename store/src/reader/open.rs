//! Opening a store for reading only.

use std::path::Path;
use std::sync::Arc;

use super::store_reader::StoreReader;
use crate::error::StoreError;
use crate::local::reader::open::open;

impl StoreReader {
    /// Opens an existing store for reading only.
    ///
    /// # Errors
    /// As for [`Store::open`](crate::Store::open).
    pub fn open(dir: &Path) -> Result<Self, StoreError> {
        Ok(Self { engine: Arc::new(open(dir).map_err(StoreError::unopened)?) })
    }
}
