//! Where the files of a store lie.

use std::path::PathBuf;

/// The file on which the lock is.
pub(crate) const LOCK_FILE: &str = "LOCK";

/// The folder of sled's files.
pub(crate) const SLED_DIR: &str = "sled";

/// The file beside it that says how much there should be.
pub(crate) const WATERMARK_FILE: &str = "WATERMARK";

/// Where the records of a store lie.
pub(crate) struct Places {
    /// The folder of sled's files.
    pub(crate) sled: PathBuf,
    /// The file that says how much there should be.
    pub(crate) watermark: PathBuf,
}
