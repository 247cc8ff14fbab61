//! Where the files of a store lie.

use std::path::PathBuf;

use crate::local::{index, journal};

/// The file on which the lock is.
pub(crate) const LOCK_FILE: &str = "LOCK";

/// The folder of the journal.
pub(crate) const JOURNAL_DIR: &str = journal::DIR;

/// The folder of the indexes.
pub(crate) const SLED_DIR: &str = index::DIR;

/// Where what a store holds lies.
#[derive(Clone, Debug)]
pub(crate) struct Places {
    /// The folder of the journal.
    pub(crate) journal: PathBuf,
    /// The folder of the indexes.
    pub(crate) sled: PathBuf,
}
