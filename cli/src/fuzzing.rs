//! The door for fuzzers to what only this crate can do: read, write, bless and check replay files.

use turnfold_core::Registry;

use turnfold_replay::tfl::{self, Replay};

/// A replay file that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplayFile(Replay);

impl ReplayFile {
    /// Reads a file called `fuzzed.tfl`.
    ///
    /// # Errors
    /// The message that a user would get.
    pub fn read(bytes: &[u8]) -> Result<Self, String> {
        tfl::read("fuzzed.tfl", bytes, &Registry::standard()).map(Self).map_err(|error| error.to_string())
    }

    /// Writes the file.
    #[must_use]
    pub fn write(&self) -> String {
        self.0.to_string()
    }

    /// Fills in what the rules say.
    ///
    /// # Errors
    /// The message that a user would get.
    pub fn bless(&self) -> Result<Self, String> {
        tfl::bless(&self.0).map(Self).map_err(|error| error.to_string())
    }

    /// Tells whether the file says what the rules say.
    ///
    /// # Errors
    /// The message that a user would get.
    pub fn check(&self) -> Result<bool, String> {
        let checked = tfl::check(&self.0).map_err(|error| error.to_string())?;
        Ok(checked.difference.is_none())
    }
}
