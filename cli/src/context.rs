//! What every verb has at hand.

use std::path::{Path, PathBuf};

use turnfold_core::{Digest, Registry};
use turnfold_replay::{
    Replay, ReplayError, Sources, limits::REPLAY, page::replay_bytes, revision::input_name, tfl,
};
use turnfold_store::{Store, StoreReader};

use crate::failure::Failure;
use crate::output::Output;
use crate::{files, identity};

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
        output: Output,
        grammar: clap::Command,
        registry: Registry,
    ) -> Self {
        Self { store_dir, output, grammar, registry }
    }

    /// Returns the directory of the store.
    pub(crate) fn store_dir(&self) -> &Path {
        &self.store_dir
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

impl Sources for Context {
    fn registry(&self) -> &Registry {
        &self.registry
    }

    fn read_store(&self) -> Result<StoreReader, ReplayError> {
        Ok(StoreReader::open(&self.store_dir)?)
    }

    fn read_replay(&self, path: &Path) -> Result<Replay, ReplayError> {
        let bytes = replay_bytes(path, files::read_input_or_stdin(path, &REPLAY)?)?;
        Ok(tfl::read_also_seen(&input_name(path), &bytes, &self.registry)?)
    }

    fn build(&self) -> Option<Digest> {
        identity::of_build()
    }
}
