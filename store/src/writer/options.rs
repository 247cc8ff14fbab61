//! How a store in a directory is opened.

use std::path::Path;

use crate::error::StoreError;
use crate::local::journal::head::HEAD_BYTES;
use crate::local::open::{open_for_writing, open_or_create};
use crate::writer::store::Store;

/// How to open the store in a directory for writing: first the options, then [`open`](StoreOptions::open).
pub struct StoreOptions<'a> {
    creates: bool,
    head_bytes: usize,
    observe: Option<&'a mut dyn FnMut(u64, u64)>,
}

impl<'a> StoreOptions<'a> {
    /// Returns the options for a store that exists.
    #[must_use]
    #[expect(
        clippy::new_without_default,
        reason = "options are read from left to right, beginning with `new`"
    )]
    pub fn new() -> Self {
        Self { creates: false, head_bytes: HEAD_BYTES, observe: None }
    }

    /// Creates the store first if the directory is missing or empty.
    #[must_use]
    pub fn create(self) -> Self {
        Self { creates: true, ..self }
    }

    /// Calls `observe` while the index is built from the journal, with the number of commits done and of all commits.
    #[must_use]
    pub fn observe(self, observe: &'a mut dyn FnMut(u64, u64)) -> Self {
        Self { observe: Some(observe), ..self }
    }

    /// Uses only `bytes` of each head of the journal, so that heads fill up often in tests. It takes effect with
    /// [`create`](StoreOptions::create).
    #[cfg(feature = "testing")]
    #[must_use]
    pub fn head_bytes(self, bytes: usize) -> Self {
        Self { head_bytes: bytes, ..self }
    }

    /// Opens the store.
    ///
    /// # Errors
    /// Returns [`StoreError::Missing`] or [`StoreError::NotAStore`] if the directory has no store, and with
    /// [`create`](StoreOptions::create) `NotAStore` if it belongs to something else; then nothing is changed. Returns
    /// [`StoreError::Locked`] if the store is in use, or [`StoreError::UnknownFormat`], [`StoreError::Corrupt`] or
    /// another error if it cannot be opened.
    pub fn open(self, dir: &Path) -> Result<Store, StoreError> {
        let observe = match self.observe {
            Some(observe) => observe,
            None => &mut |_, _| {},
        };
        let local = if self.creates {
            open_or_create(dir, self.head_bytes, observe)?
        } else {
            open_for_writing(dir, observe)?
        };
        Ok(Store::of(local))
    }
}
