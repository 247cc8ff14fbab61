//! The records in sled's tree, long values in pieces, and when they are durable.

use std::ops::Range;
use std::sync::{PoisonError, RwLock};

use super::closing::OpenDb;
use super::guard::guarded;
use super::pieces;
use super::syncing::{Syncing, has_failed};
use crate::local::backend::{BackendError, RecordChange, StoredRecord};

/// The records in sled.
pub(super) struct Tree {
    db: OpenDb,
    syncing: Syncing,
    /// Held while a batch is applied, and by readers while they put a value together from its pieces.
    pieces: RwLock<()>,
}

impl Tree {
    pub(super) fn of(db: OpenDb, syncing: Syncing) -> Self {
        Self { db, syncing, pieces: RwLock::default() }
    }

    /// Goes on as in a build in which sled's sync is not bound to `fdatasync`.
    pub(super) fn distrust_binding(&self) {
        self.syncing.distrust_binding();
    }

    pub(super) fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, BackendError> {
        let stored = guarded("read", || self.db.get(key))?;
        stored.map_or(Ok(None), |stored| self.value(key, &stored))
    }

    pub(super) fn scan(
        &self,
        range: &Range<Vec<u8>>,
        limit: usize,
    ) -> Result<Vec<StoredRecord>, BackendError> {
        if range.start >= range.end {
            return Ok(Vec::new());
        }
        let found: Vec<_> =
            guarded("read", || self.db.range(range.clone()).take(limit).collect::<Result<_, _>>())?;
        let values = found.into_iter().map(|(key, stored)| Ok((key.to_vec(), self.value(&key, &stored)?)));
        values.filter_map(|record| record.map(|(key, value)| Some((key, value?))).transpose()).collect()
    }

    pub(super) fn last(&self, range: &Range<Vec<u8>>) -> Result<Option<StoredRecord>, BackendError> {
        if range.start >= range.end {
            return Ok(None);
        }
        let mut end = range.end.clone();
        loop {
            let found = guarded("read", || self.db.get_lt(&end))?;
            let found = found.filter(|(key, _)| key.as_ref() >= range.start.as_slice());
            let Some((key, stored)) = found else { return Ok(None) };
            if let Some(value) = self.value(&key, &stored)? {
                return Ok(Some((key.to_vec(), value)));
            }
            end = key.to_vec();
        }
    }

    /// Makes changes all together or not at all; they are durable after [`flush`](Tree::flush).
    pub(super) fn write(&self, changes: &[RecordChange]) -> Result<(), BackendError> {
        let (batch, bytes) = self.batch(changes)?;
        if self.syncing.begin_write(bytes) {
            self.flush()?;
            self.syncing.begin_write(bytes);
        }
        let _no_reader = self.pieces.write().unwrap_or_else(PoisonError::into_inner);
        guarded("write", || self.db.apply_batch(batch))
    }

    /// Makes every change so far durable.
    pub(super) fn flush(&self) -> Result<(), BackendError> {
        // Once a sync has failed nobody knows what is on disk, also where the reason is a full disk.
        let flushed = self.db.flush().map_err(|error| match error {
            BackendError::Io { source, .. } if has_failed() => BackendError::Unsynced { source },
            error => error,
        });
        flushed.and_then(|()| self.syncing.end_flush())
    }

    /// Closes sled. After an error it is not known whether what was written since the last flush is on disk.
    pub(super) fn close(&mut self) -> Result<(), BackendError> {
        self.db.close()
    }

    /// Returns the number of records and pieces of records.
    #[cfg(test)]
    pub(super) fn count(&self) -> usize {
        self.db.len()
    }

    /// Returns the value of a record from what was stored under its key a moment ago; `None` when it has gone since.
    fn value(&self, key: &[u8], stored: &[u8]) -> Result<Option<Vec<u8>>, BackendError> {
        if pieces::count(stored).is_none() {
            return Ok(Some(stored.to_vec()));
        }
        // The pieces are several records: no batch may come between them.
        let _no_batch = self.pieces.read().unwrap_or_else(PoisonError::into_inner);
        let read = |key: &[u8]| guarded("read", || Ok(self.db.get(key)?.map(|found| found.to_vec())));
        read(key)?.map(|stored| pieces::join(key, &stored, read)).transpose()
    }

    /// Returns the batch that makes changes, and about how many bytes it writes.
    fn batch(&self, changes: &[RecordChange]) -> Result<(sled::Batch, usize), BackendError> {
        let (mut batch, mut bytes) = (sled::Batch::default(), 0);
        for RecordChange { key, value } in changes {
            // A value that was in pieces may now need fewer of them, or none.
            let before = guarded("read", || self.db.get(key))?;
            if before.is_none() && value.is_none() {
                continue;
            }
            for number in 0..before.and_then(|stored| pieces::count(&stored)).unwrap_or(0) {
                batch.remove(pieces::key_of(key, number));
            }
            match value {
                Some(value) => {
                    for (key, part) in pieces::cut(key, value) {
                        bytes += key.len() + part.len();
                        batch.insert(key, part);
                    }
                }
                None => batch.remove(key.as_slice()),
            }
        }
        Ok((batch, bytes))
    }
}
