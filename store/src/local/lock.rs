//! The locks on a store's directory (ST-6).

use std::fs::{File, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::Path;
use std::time::Duration;
use std::{fmt, io};

use crate::error::StoreError;
use crate::local::files::{self, LOCK_FILE, oddity, open_regular, require_regular};
use crate::local::journal::head;

/// The process that holds the lock of a store, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holder {
    /// This process, with another handle.
    ThisProcess,
    /// The process with this id.
    Process(u32),
    /// A process that has not written its id. The process with this id, named in the file, has ended.
    After(u32),
    /// A process of another container or machine, where ids mean other processes.
    Elsewhere,
    /// A process that has not written its id.
    Unknown,
}

impl fmt::Display for Holder {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ThisProcess => out.write_str("another handle of this very process"),
            Self::Process(id) => write!(out, "process {id}"),
            Self::After(id) => {
                write!(out, "another process (not {id}, which `{LOCK_FILE}` names: it has ended)")
            }
            Self::Elsewhere => out.write_str("a process of another container or machine"),
            Self::Unknown => out.write_str("another process"),
        }
    }
}

/// How often a lock is tried, and with which pauses (ST-22). The holder may be about to end. A process that the holder
/// just started may also keep the lock until it closes the files it inherited.
const LOCK_TRIES: u32 = 100;
const LOCK_PAUSE: Duration = Duration::from_millis(10);

/// The operating system's lock on the file `LOCK`. The file names this process as long as it holds the lock.
pub(crate) struct Lock {
    file: File,
}

/// The locks of a writer: on `LOCK`, and on a file of the journal that is never replaced, in case someone removes
/// `LOCK`. Windows needs no second lock, because no one can remove a locked file there. It could not have one, because
/// an open file keeps its folder from being renamed.
pub(crate) struct Locks {
    _journal: Option<File>,
    lock: Lock,
}

impl Locks {
    pub(crate) fn take(dir: &Path, journal: &Path, lock: Lock) -> Result<Self, StoreError> {
        if cfg!(windows) {
            return Ok(Self { _journal: None, lock });
        }
        let file = open_head(dir, journal)?;
        match try_for_a_while(|| file.try_lock()) {
            Ok(()) => Ok(Self { _journal: Some(file), lock }),
            // `LOCK` was removed, so the holder is unknown.
            Err(TryLockError::WouldBlock) => {
                Err(StoreError::Locked { dir: dir.to_owned(), holder: Holder::Unknown })
            }
            Err(TryLockError::Error(error)) => Err(StoreError::in_dir(dir, "lock", journal, error)),
        }
    }

    /// Returns a second handle on `LOCK`, which keeps the lock when this value is dropped.
    pub(crate) fn try_clone(&self) -> io::Result<File> {
        self.lock.file.try_clone()
    }

    pub(crate) fn take_if_free(dir: &Path, journal: &Path) -> Option<Self> {
        let file = open_locked(&dir.join(LOCK_FILE), LockKind::Write).ok()?;
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
    let path = journal.join(head::NAMES[0]);
    open_regular(&path).map_err(|error| match oddity(&path, &error) {
        Some(reason) => StoreError::damaged(reason),
        None => StoreError::in_dir(dir, "read", &path, error),
    })
}

impl Lock {
    pub(crate) fn take(dir: &Path) -> Result<Self, StoreError> {
        let path = dir.join(LOCK_FILE);
        match try_for_a_while(|| open_locked(&path, LockKind::Write)) {
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
        // A full disk does not affect the lock, but the holder is then unknown.
        let mut file = &self.file;
        let named = file.set_len(0).and_then(|()| file.write_all(name().as_bytes()));
        if let Err(error) = named {
            tracing::debug!(%error, "the lock cannot be given the holder's name");
        }
    }
}

pub(crate) fn locked(dir: &Path) -> StoreError {
    let holder = match open_regular(&dir.join(LOCK_FILE)) {
        Ok(mut file) => holder(&mut file),
        Err(_) => Holder::Unknown,
    };
    StoreError::Locked { dir: dir.to_owned(), holder }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LockKind {
    /// For writing, which excludes all others. Creates the file if it is missing.
    Write,
    /// For keeping writers out.
    Read,
}

#[cfg(not(windows))]
pub(crate) fn open_locked(path: &Path, access: LockKind) -> Result<File, TryLockError> {
    let file = open(path, access).map_err(TryLockError::Error)?;
    match access {
        LockKind::Write => file.try_lock()?,
        LockKind::Read => file.try_lock_shared()?,
    }
    Ok(file)
}

/// Opens and locks the file: no one else may write to it while it is open. It takes no byte lock, because that would
/// keep others on Windows from reading who holds it.
#[cfg(windows)]
pub(crate) fn open_locked(path: &Path, access: LockKind) -> Result<File, TryLockError> {
    const ERROR_SHARING_VIOLATION: i32 = 32;
    open(path, access).map_err(|error| match error.raw_os_error() {
        Some(ERROR_SHARING_VIOLATION) => TryLockError::WouldBlock,
        _ => TryLockError::Error(error),
    })
}

fn open(path: &Path, access: LockKind) -> io::Result<File> {
    let mut options = files::options();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NONBLOCK);
    #[cfg(windows)]
    {
        const FILE_SHARE_READ: u32 = 1;
        std::os::windows::fs::OpenOptionsExt::share_mode(&mut options, FILE_SHARE_READ);
    }
    let is_writer = access == LockKind::Write;
    let file = options.create(is_writer).truncate(false).read(true).write(is_writer).open(path)?;
    require_regular(&file)?;
    Ok(file)
}

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
        // Errors are ignored, because the name is only a hint. The lock ends when the file is closed.
        let _ = self.file.set_len(0);
    }
}

const NAME_BYTES_MAX: u64 = 160;

/// Returns the text that a holder writes into the locked file: its id, and the space in which that id counts, if known.
fn name() -> String {
    let id = std::process::id();
    match id_space() {
        Some(space) => format!("{id}\n{space}\n"),
        None => format!("{id}\n"),
    }
}

/// Returns the space in which process ids are unique: the container, since the machine was started. `None` if unknown.
fn id_space() -> Option<String> {
    let space = std::fs::read_link("/proc/self/ns/pid").ok()?;
    let started = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(format!("{} {}", space.to_str()?, started.trim_end()))
}

pub(crate) fn holder(file: &mut File) -> Holder {
    let mut text = String::new();
    let read = file.rewind().and_then(|()| file.take(NAME_BYTES_MAX).read_to_string(&mut text));
    let mut lines = text.lines();
    let id = lines.next().unwrap_or_default();
    let space = lines.next();
    match (read, id.parse()) {
        // Earlier builds wrote only the id.
        (Ok(_), Ok(0..)) if space.is_some() && space != id_space().as_deref() => Holder::Elsewhere,
        (Ok(_), Ok(id)) if id == std::process::id() => Holder::ThisProcess,
        (Ok(_), Ok(id)) if has_ended(id) => Holder::After(id),
        (Ok(_), Ok(id)) => Holder::Process(id),
        _ => Holder::Unknown,
    }
}

fn has_ended(id: u32) -> bool {
    let processes = Path::new("/proc");
    // Without `/proc` nothing is known.
    cfg!(target_os = "linux") && processes.join("self").exists() && !processes.join(id.to_string()).exists()
}
