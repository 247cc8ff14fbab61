//! What every verb has at hand.

use std::path::{Path, PathBuf};

use turnfold_core::Registry;
use turnfold_store::{Store, StoreReader};

use crate::failure::Failure;
use crate::output::{Format, Output};

/// The store to work on, where to print, the grammar of the command line and the rulesets.
pub(crate) struct Context {
    store_dir: PathBuf,
    /// Standard output.
    pub(crate) output: Output,
    /// The whole command line, for completions and manual pages.
    pub(crate) grammar: clap::Command,
    /// The rulesets there are.
    pub(crate) registry: Registry,
}

impl Context {
    pub(crate) fn new(
        store_dir: PathBuf,
        format: Format,
        grammar: clap::Command,
        registry: Registry,
    ) -> Self {
        Self { store_dir, output: Output::new(format), grammar, registry }
    }

    /// Gives the directory of the store.
    pub(crate) fn store_dir(&self) -> &Path {
        &self.store_dir
    }

    /// Opens the store, which must exist, for reading only: nothing in its directory is written.
    pub(crate) fn read_store(&self) -> Result<StoreReader, Failure> {
        Ok(StoreReader::open(&self.store_dir)?)
    }

    /// Opens the store, which must exist, for writing.
    pub(crate) fn open_store(&self) -> Result<Store, Failure> {
        Ok(Store::open(&self.store_dir)?)
    }

    /// Opens the store, making it where there is none.
    pub(crate) fn open_or_create_store(&self) -> Result<Store, Failure> {
        Ok(Store::open_or_create(&self.store_dir)?)
    }
}
