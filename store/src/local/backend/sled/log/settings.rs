//! sled's settings, which are always the same.

use std::path::Path;

use super::damaged;
use crate::local::backend::BackendError;
use crate::local::dir::regular::read_at_most;

const SETTINGS: &[u8] = b"segment_size: 524288\nuse_compression: false\nversion: 0.34\n";

/// The bytes of a checksum after the settings, by which sled does not go either.
const CHECK_BYTES: usize = 4;

/// Requires the settings to be those that every store has.
pub(super) fn require(sled_dir: &Path) -> Result<(), BackendError> {
    let path = sled_dir.join("conf");
    let found = read_at_most(&path, 1024).map_err(|source| BackendError::io("read", &path, source))?;
    let is_whole = found.len() == SETTINGS.len() + CHECK_BYTES && found.starts_with(SETTINGS);
    is_whole.then_some(()).ok_or_else(|| damaged(format!("the settings in `{}` are damaged", path.display())))
}
