//! What distinguishes this build from others.

use std::env;
use std::fs;
use std::time::UNIX_EPOCH;

use turnfold_core::Digest;

/// Identifies this build, by its executable's size and time of writing: rules that were changed without a new
/// version must not go on from states that the old ones folded to.
pub(crate) fn of_build() -> Option<Digest> {
    let executable = fs::metadata(env::current_exe().ok()?).ok()?;
    let written = executable.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    let mut hasher = blake3::Hasher::new_derive_key("turnfold v1 build");
    hasher.update(&executable.len().to_le_bytes());
    hasher.update(&written.as_nanos().to_le_bytes());
    Some(hasher.finalize().into())
}
