//! The databases of sled: where they are, how they are opened and made.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::closing::OpenDb;
use super::guard::guarded;
use super::tree::Tree;
use crate::local::backend::BackendError;
use crate::local::dir::private::{self, sync_dir};

const CACHE_BYTES: u64 = 64 * 1024 * 1024;

/// How often, and how long apart, opening is tried while an earlier handle of this process lets go of sled's own lock.
const LOCK_TRIES: u32 = 200;
const LOCK_PAUSE: Duration = Duration::from_millis(10);

/// Returns the folder of an index.
pub(super) fn folder(sled: &Path, number: u32) -> PathBuf {
    sled.join(number.to_string())
}

/// Makes an empty index.
pub(super) fn create(sled: &Path, number: u32) -> Result<Tree, BackendError> {
    let dir = folder(sled, number);
    let made = private::create_dir(&dir).and_then(|()| sync_dir(sled));
    made.map_err(|source| BackendError::io("create", &dir, source))?;
    let db = open_db(&dir)?;
    Ok(Tree::of(OpenDb::new(db), dir, number))
}

/// Opens a database, or makes it.
pub(super) fn open_db(dir: &Path) -> Result<sled::Db, BackendError> {
    let action = format!("open `{}`", dir.display());
    let mut tries = 1;
    loop {
        let open = || sled::Config::new().path(dir).cache_capacity(CACHE_BYTES).use_compression(false).open();
        match guarded(&action, open) {
            Err(BackendError::Io { source, .. }) if tries < LOCK_TRIES && is_lock_error(&source) => {
                tries += 1;
                std::thread::sleep(LOCK_PAUSE);
            }
            answer => return answer,
        }
    }
}

/// Returns `true` if sled found its own lock taken, for which it has no error of its own.
fn is_lock_error(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::Other && error.to_string().starts_with("could not acquire lock")
}
