//! Closing sled: its destructor panics when the last sync fails, and a panic in a destructor can abort the process.

use std::fs::{File, TryLockError};
use std::io;
use std::ops::Deref;
use std::time::Duration;

use super::flushing::FlushWatch;
use super::guard::guarded;
use crate::local::backend::BackendError;

/// How often, and how long apart, it is checked whether sled has let go of its file.
const RELEASE_TRIES: u32 = 500;
const RELEASE_PAUSE: Duration = Duration::from_millis(5);

/// Locks sled's file once sled, whose threads may outlive its handle, has let go of it; `false` if it does not.
pub(crate) fn lock_released(db: &File) -> io::Result<bool> {
    for _ in 0..RELEASE_TRIES {
        match db.try_lock() {
            Ok(()) => return Ok(true),
            Err(TryLockError::WouldBlock) => std::thread::sleep(RELEASE_PAUSE),
            Err(TryLockError::Error(source)) => return Err(source),
        }
    }
    Ok(false)
}

/// sled's database, which is closed without a panic and flushed without waiting for ever.
pub(super) struct OpenDb {
    /// There until it is closed.
    watched: Option<(FlushWatch, sled::Db)>,
}

impl OpenDb {
    pub(super) fn new(db: sled::Db) -> Self {
        Self { watched: Some((FlushWatch::of(&db), db)) }
    }

    /// Makes everything durable that was written, as far as sled goes.
    pub(super) fn flush(&self) -> Result<(), BackendError> {
        self.watched.as_ref().map_or(Ok(()), |(watch, db)| watch.flush(db))
    }

    /// Closes the database. After an error it is not known whether what was written since the last flush is on disk.
    pub(super) fn close(&mut self) -> Result<(), BackendError> {
        let Some((watch, db)) = self.watched.take() else { return Ok(()) };
        drop(watch);
        let closed = guarded("close", || {
            drop(db);
            Ok(())
        });
        // Nothing but the last sync panics here, and sled's text for that is made for its own developers.
        closed.map_err(|error| {
            tracing::debug!(%error, "sled did not close");
            BackendError::Unsynced { source: io::Error::other("the last sync of sled's file failed") }
        })
    }
}

impl Deref for OpenDb {
    type Target = sled::Db;

    fn deref(&self) -> &sled::Db {
        &self.watched.as_ref().expect("only its owner closes it, when it goes itself").1
    }
}

impl Drop for OpenDb {
    fn drop(&mut self) {
        if let Err(error) = self.close() {
            tracing::warn!(%error, "the store did not close cleanly; what was acknowledged is safe");
        }
    }
}
