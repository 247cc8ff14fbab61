//! Where histories are found.

use std::path::Path;

use turnfold_core::{Digest, Registry};
use turnfold_store::StoreReader;

use crate::error::ReplayError;
use crate::tfl::Replay;

/// What histories are read from.
pub trait Sources {
    /// Returns the rulesets there are.
    fn registry(&self) -> &Registry;

    /// Opens the store, which must exist, for reading only.
    ///
    /// # Errors
    /// [`ReplayError::Store`].
    fn read_store(&self) -> Result<StoreReader, ReplayError>;

    /// Reads a replay file, or standard input for `-`; also one that contains only what a seat may know.
    ///
    /// # Errors
    /// [`ReplayError::Input`] and [`ReplayError::File`].
    fn read_replay(&self, path: &Path) -> Result<Replay, ReplayError>;

    /// Returns the identity of this build. Snapshots of other builds are not used; without an identity none are.
    fn build(&self) -> Option<Digest>;
}
