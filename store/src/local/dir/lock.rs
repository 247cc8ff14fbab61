//! The locks on a store's directory (ST-6).

use std::fs::{File, TryLockError};
use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

use super::files::{self, LOCK_FILE, oddity, open_regular, require_regular};
use super::holder::{Holder, holder, name};
use crate::error::StoreError;
use crate::local::journal::head;

/// How often, and how long apart, a lock is tried (ST-22). A process about to end, or one that is being started by the
/// holder and has not yet closed the files it got from it, should not fail anyone.
const LOCK_TRIES: u32 = 100;
const LOCK_PAUSE: Duration = Duration::from_millis(10);

/// The operating system's lock on a directory's file `LOCK`, which names this process while it holds it.
pub(crate) struct Lock {
    file: File,
}

/// The locks that a writer holds: on `LOCK`, and on a file of the journal that is never replaced.
pub(crate) struct Locks {
    _journal: File,
    lock: Lock,
}

impl Locks {
    /// Takes the lock of a journal in addition to the one that is held already.
    pub(crate) fn take(dir: &Path, journal: &Path, lock: Lock) -> Result<Self, StoreError> {
        let file = open_head(dir, journal)?;
        match try_for_a_while(|| file.try_lock()) {
            Ok(()) => Ok(Self { _journal: file, lock }),
            // Someone removed `LOCK`, so nothing records who it is.
            Err(TryLockError::WouldBlock) => {
                Err(StoreError::Locked { dir: dir.to_owned(), holder: Holder::Unknown })
            }
            Err(TryLockError::Error(error)) => Err(StoreError::in_dir(dir, "lock", journal, error)),
        }
    }

    /// Returns a second handle, which keeps the lock on the directory when this one is dropped.
    pub(crate) fn try_clone(&self) -> io::Result<File> {
        self.lock.file.try_clone()
    }

    /// Takes all locks if they are free at once and may be taken.
    pub(crate) fn take_if_free(dir: &Path, journal: &Path) -> Option<Self> {
        let lock = Lock::open(dir).ok()?;
        lock.file.try_lock().ok()?;
        let file = open_head(dir, journal).ok()?;
        file.try_lock().ok()?;
        lock.name_holder();
        Some(Self { _journal: file, lock })
    }
}

fn open_head(dir: &Path, journal: &Path) -> Result<File, StoreError> {
    let path = head::NAMES.first().map_or_else(|| journal.to_owned(), |name| journal.join(name));
    open_regular(&path).map_err(|error| {
        oddity(&path, &error)
            .map_or_else(|| StoreError::in_dir(dir, "read", &path, error), StoreError::damaged)
    })
}

impl Lock {
    /// Takes the lock of a directory.
    pub(crate) fn take(dir: &Path) -> Result<Self, StoreError> {
        let path = dir.join(LOCK_FILE);
        let opened = Self::open(dir);
        let mut lock = opened.map_err(|error| StoreError::in_dir(dir, "open", &path, error))?;
        match try_for_a_while(|| lock.file.try_lock()) {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(StoreError::Locked { dir: dir.to_owned(), holder: holder(&mut lock.file) });
            }
            Err(TryLockError::Error(error)) => return Err(StoreError::in_dir(dir, "lock", &path, error)),
        }
        lock.name_holder();
        Ok(lock)
    }

    fn open(dir: &Path) -> io::Result<Self> {
        let mut options = files::options();
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NONBLOCK);
        let file = options.create(true).truncate(false).read(true).write(true).open(dir.join(LOCK_FILE))?;
        require_regular(&file)?;
        Ok(Self { file })
    }

    fn name_holder(&self) {
        // On a full disk the lock holds all the same, but its holder is unknown.
        let mut file = &self.file;
        let named = file.set_len(0).and_then(|()| file.write_all(name().as_bytes()));
        if let Err(error) = named {
            tracing::debug!(%error, "the lock cannot be given the holder's name");
        }
    }
}

/// Tries to take a lock, which others may hold for a moment.
pub(crate) fn try_for_a_while(take: impl Fn() -> Result<(), TryLockError>) -> Result<(), TryLockError> {
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
        // The name is only a help, and wrong from now on. The lock goes with the file. One that was never taken is
        // someone else's.
        if self.file.try_lock().is_ok() {
            let _ = self.file.set_len(0);
        }
    }
}
