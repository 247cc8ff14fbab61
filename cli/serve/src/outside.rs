//! What the service takes from the world outside.

use std::fmt;

use turnfold_core::{Digest, DueRoll};

/// The clock, randomness and the identity of the build, as the caller of [`serve`](crate::serve()) provides them.
#[derive(Clone, Copy)]
pub struct Outside {
    /// Returns the time now in milliseconds since 1970.
    pub now_ms: fn() -> i64,
    /// Fills bytes by the operating system's randomness, or says why it cannot.
    pub fill_random: fn(&mut [u8]) -> Result<(), String>,
    /// Rolls recorded dice of matches by mail by the operating system, or says why it cannot.
    pub roll: fn(&DueRoll) -> Result<Vec<i32>, String>,
    /// Identifies this build, because snapshots of other builds are not used; `None` disables snapshots.
    pub build: Option<Digest>,
}

impl fmt::Debug for Outside {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Outside").finish_non_exhaustive()
    }
}
