//! The lock on a store's directory.

use std::fs::{File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::holder::holder;
use super::places::LOCK_FILE;
use super::private;
use super::regular::require_regular;
use crate::error::StoreError;

/// How often, and how long apart, the lock is tried. A process about to end, or one that is being started by the holder
/// and has not yet closed the files it got from it, should not fail anyone.
const LOCK_TRIES: u32 = 25;
const LOCK_PAUSE: Duration = Duration::from_millis(10);

/// The operating system's lock on a directory's file `LOCK`, which names this process meanwhile.
pub(crate) struct Lock {
    file: File,
}

impl Lock {
    /// Returns a second handle, which keeps the lock when this one is dropped.
    pub(crate) fn try_clone(&self) -> io::Result<File> {
        self.file.try_clone()
    }

    /// Takes the lock of a directory.
    pub(crate) fn take(dir: &Path) -> Result<Self, StoreError> {
        let path = dir.join(LOCK_FILE);
        let mut options = private::options();
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NONBLOCK);
        let file = options.create(true).truncate(false).read(true).write(true).open(&path);
        let file = file.and_then(|file| require_regular(&file).map(|()| file));
        let mut file = file.map_err(|error| StoreError::in_dir(dir, "open", &path, error))?;
        match try_for_a_while(|| file.try_lock()) {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(StoreError::Locked { dir: dir.to_owned(), holder: holder(&mut file) });
            }
            Err(TryLockError::Error(error)) => return Err(StoreError::in_dir(dir, "lock", &path, error)),
        }
        // On a full disk the lock holds all the same, only nobody knows by whom.
        let named = file.set_len(0).and_then(|()| writeln!(file, "{}", std::process::id()));
        if let Err(error) = named {
            tracing::debug!(%error, "the lock cannot be given the holder's name");
        }
        Ok(Self { file })
    }
}

/// The operating system's lock on a directory, shared with others who only read. Nothing is written for it.
pub(crate) struct SharedLock {
    _file: File,
}

impl SharedLock {
    /// Takes the shared lock of a directory on the first of these files that is there; `None` when none is.
    pub(crate) fn take(dir: &Path, files: &[PathBuf]) -> Result<Option<Self>, StoreError> {
        let Some(path) = files.iter().find(|path| path.is_file()) else { return Ok(None) };
        let mut file = File::open(path).map_err(|source| StoreError::io("open", path, source))?;
        match try_for_a_while(|| file.try_lock_shared()) {
            Ok(()) => Ok(Some(Self { _file: file })),
            Err(TryLockError::WouldBlock) => {
                Err(StoreError::Locked { dir: dir.to_owned(), holder: holder(&mut file) })
            }
            Err(TryLockError::Error(source)) => Err(StoreError::io("lock", path, source)),
        }
    }
}

/// Tries to take a lock, which others may hold for a moment.
fn try_for_a_while(take: impl Fn() -> Result<(), TryLockError>) -> Result<(), TryLockError> {
    for _ in 1..LOCK_TRIES {
        match take() {
            Err(TryLockError::WouldBlock) => std::thread::sleep(LOCK_PAUSE),
            answer => return answer,
        }
    }
    take()
}

impl Drop for Lock {
    fn drop(&mut self) {
        // The name is only a help, and wrong from now on. The lock goes with the file.
        let _ = self.file.set_len(0);
    }
}
