//! Closing sled: its destructor panics when the last sync fails, and a panic in a destructor can abort the process.

use std::io;
use std::ops::Deref;

use super::flushing::FlushWatch;
use super::guard::guarded;
use crate::local::backend::BackendError;

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
            tracing::warn!(%error, "the index did not close cleanly; it can be built again");
        }
    }
}
