//! Closing sled: its destructor panics when the last sync fails, and a panic in a destructor can abort the process.

use std::io;
use std::ops::Deref;

use super::guard::guarded;
use crate::backend::BackendError;

/// sled's database, which is closed without a panic.
pub(super) struct OpenDb {
    /// There until it is closed.
    db: Option<sled::Db>,
}

impl OpenDb {
    pub(super) fn new(db: sled::Db) -> Self {
        Self { db: Some(db) }
    }

    /// Closes the database. After an error it is not known whether what was written since the last flush is on disk.
    pub(super) fn close(mut self) -> Result<(), BackendError> {
        self.let_go()
    }

    fn let_go(&mut self) -> Result<(), BackendError> {
        let Some(db) = self.db.take() else { return Ok(()) };
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
        self.db.as_ref().expect("only closing takes it, and that consumes this")
    }
}

impl Drop for OpenDb {
    fn drop(&mut self) {
        if let Err(error) = self.let_go() {
            tracing::warn!(%error, "the store did not close cleanly; what was acknowledged is safe");
        }
    }
}
