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

/// The locks that a writer holds: on `LOCK`, and on a file of the journal that is never replaced, for the case that someone
/// removes `LOCK`. Windows lets no one remove it while it is held, and keeps a folder from being renamed while one of its
/// files is open, so there is no second lock.
pub(crate) struct Locks {
    _journal: Option<File>,
    lock: Lock,
}

impl Locks {
    /// Takes the lock of a journal in addition to the one that is held already.
    pub(crate) fn take(dir: &Path, journal: &Path, lock: Lock) -> Result<Self, StoreError> {
        if cfg!(windows) {
            return Ok(Self { _journal: None, lock });
        }
        let file = open_head(dir, journal)?;
        match try_for_a_while(|| file.try_lock()) {
            Ok(()) => Ok(Self { _journal: Some(file), lock }),
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
        let file = open_locked(&dir.join(LOCK_FILE), Access::Write).ok()?;
        let mut journal_lock = None;
        if cfg!(not(windows)) {
            let head = open_head(dir, journal).ok()?;
            head.try_lock().ok()?;
            journal_lock = Some(head);
        }
        let lock = Lock { file };
        lock.name_holder();
        Some(Self { _journal: journal_lock, lock })
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
        match try_for_a_while(|| open_locked(&path, Access::Write)) {
            Ok(file) => {
                let lock = Self { file };
                lock.name_holder();
                Ok(lock)
            }
            Err(TryLockError::WouldBlock) => Err(locked(dir)),
            Err(TryLockError::Error(error)) => Err(StoreError::in_dir(dir, "open", &path, error)),
        }
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

/// Reports that the lock of a directory is held, and by whom.
pub(crate) fn locked(dir: &Path) -> StoreError {
    let holder = match open_regular(&dir.join(LOCK_FILE)) {
        Ok(mut file) => holder(&mut file),
        Err(_) => Holder::Unknown,
    };
    StoreError::Locked { dir: dir.to_owned(), holder }
}

/// What a lock is taken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// To write, which no one else may do or prevent. The file is made where there is none.
    Write,
    /// To keep writers out.
    Read,
}

#[cfg(not(windows))]
pub(crate) fn open_locked(path: &Path, access: Access) -> Result<File, TryLockError> {
    let file = open(path, access).map_err(TryLockError::Error)?;
    match access {
        Access::Write => file.try_lock()?,
        Access::Read => file.try_lock_shared()?,
    }
    Ok(file)
}

/// Opens the file of a lock with the lock on it: no one else may write to the file while it is open. A lock of Windows on its
/// bytes would keep others from reading who holds it.
#[cfg(windows)]
pub(crate) fn open_locked(path: &Path, access: Access) -> Result<File, TryLockError> {
    const ERROR_SHARING_VIOLATION: i32 = 32;
    open(path, access).map_err(|error| match error.raw_os_error() {
        Some(ERROR_SHARING_VIOLATION) => TryLockError::WouldBlock,
        _ => TryLockError::Error(error),
    })
}

fn open(path: &Path, access: Access) -> io::Result<File> {
    let mut options = files::options();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NONBLOCK);
    #[cfg(windows)]
    {
        const FILE_SHARE_READ: u32 = 1;
        std::os::windows::fs::OpenOptionsExt::share_mode(&mut options, FILE_SHARE_READ);
    }
    let is_writer = access == Access::Write;
    let file = options.create(is_writer).truncate(false).read(true).write(is_writer).open(path)?;
    require_regular(&file)?;
    Ok(file)
}

/// Tries to take a lock, which others may hold for a moment.
pub(crate) fn try_for_a_while<T>(take: impl Fn() -> Result<T, TryLockError>) -> Result<T, TryLockError> {
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
