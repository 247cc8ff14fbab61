//! The databases of sled: where they are, and how they are opened, flushed and closed.

use std::fs::{File, TryLockError};
use std::io;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread::{Builder, sleep};
use std::time::Duration;

use super::guard::guarded;
use crate::local::backend::BackendError;

const CACHE_BYTES: u64 = 64 * 1024 * 1024;

/// How often opening is tried, and with which pauses, while an earlier handle of this process still holds sled's lock.
const LOCK_TRIES: u32 = 200;
const LOCK_PAUSE: Duration = Duration::from_millis(10);

/// How long a flush may take before a second one is started. The time doubles with each further one.
const PATIENCE: Duration = Duration::from_millis(500);

pub(super) fn folder(sled: &Path, number: u32) -> PathBuf {
    sled.join(number.to_string())
}

/// A database of sled that can be closed without a panic and flushed without waiting forever.
pub(super) struct OpenDb {
    /// `None` once it is closed.
    db: Option<sled::Db>,
}

impl OpenDb {
    /// Opens a database, or creates it.
    pub(super) fn open(dir: &Path) -> Result<Self, BackendError> {
        let action = format!("open `{}`", dir.display());
        let open = || sled::Config::new().path(dir).cache_capacity(CACHE_BYTES).use_compression(false).open();
        for _ in 1..LOCK_TRIES {
            match guarded(&action, open) {
                Err(BackendError::Io { source, .. }) if is_lock_error(&source) => sleep(LOCK_PAUSE),
                answer => return Ok(Self { db: Some(answer?) }),
            }
        }
        Ok(Self { db: Some(guarded(&action, open)?) })
    }

    /// Makes everything written so far durable, as far as sled does that.
    ///
    /// sled 0.34.7 writes a full buffer on another thread. If that write fails, as on a full disk, it records the error
    /// but does not wake a thread that waits for a flush. A second flush finds the recorded error, wakes all waiting
    /// threads and fails too. So a slow flush gets a second one.
    pub(super) fn flush(&self) -> Result<(), BackendError> {
        let (sender, flushed) = channel();
        if let Err(error) = flush_on_thread(self, move |result| drop(sender.send(result))) {
            tracing::warn!(%error, "a failed write may go unnoticed");
            return guarded("flush", || self.deref().flush()).map(drop);
        }
        let mut patience = PATIENCE;
        loop {
            match flushed.recv_timeout(patience) {
                Ok(result) => return result.map(drop),
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(BackendError::Damaged("sled cannot flush: its thread ended".to_owned()));
                }
                // The further flush waits too if nothing has failed by then. So more follow, at growing intervals.
                Err(RecvTimeoutError::Timeout) => {
                    let company = |result| tracing::debug!(?result, "a flush took long");
                    if let Err(error) = flush_on_thread(self, company) {
                        tracing::debug!(%error, "a flush takes long");
                    }
                    patience *= 2;
                }
            }
        }
    }

    /// Closes the database. After an error it is unknown whether writes since the last flush are on disk.
    ///
    /// It drops the database here because sled's destructor panics if the last sync fails. A panic in a destructor can
    /// abort the process.
    fn close(&mut self) -> Result<(), BackendError> {
        let Some(db) = self.db.take() else { return Ok(()) };
        let closed = guarded("close", || {
            drop(db);
            Ok(())
        });
        // Only the last sync can panic here. sled's message is meant for its own developers, so it is only logged.
        closed.map_err(|error| {
            tracing::debug!(%error, "sled did not close");
            BackendError::Unsynced { source: io::Error::other("the last sync of sled's file failed") }
        })
    }
}

/// Waits until no thread of sled uses a closed database, as far as its lock shows that.
pub(super) fn wait_until_closed(dir: &Path) {
    let Ok(file) = File::open(dir.join("db")) else { return };
    for _ in 0..LOCK_TRIES {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => sleep(LOCK_PAUSE),
            _ => return,
        }
    }
}

/// Flushes on another thread, and calls `then` with the result.
fn flush_on_thread(
    db: &sled::Db,
    then: impl FnOnce(Result<usize, BackendError>) + Send + 'static,
) -> io::Result<()> {
    let db = db.clone();
    let flush = move || {
        let flushed = guarded("flush", || db.flush());
        // Drops the clone first, because the caller may close the database next.
        drop(db);
        then(flushed);
    };
    Builder::new().name("turnfold flush".to_owned()).spawn(flush).map(drop)
}

impl Deref for OpenDb {
    type Target = sled::Db;

    fn deref(&self) -> &sled::Db {
        self.db.as_ref().expect("only its owner closes it, when it goes itself")
    }
}

impl Drop for OpenDb {
    fn drop(&mut self) {
        if let Err(error) = self.close() {
            tracing::warn!(%error, "the index did not close cleanly; it can be built again");
        }
    }
}

/// Returns `true` if sled found its own lock taken. sled has no error variant for that.
fn is_lock_error(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::Other && error.to_string().starts_with("could not acquire lock")
}
