//! Records in memory, for tests and for folds that need no disk.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{Backend, BackendError, RecordChange, StoredRecord};

/// Records in memory. Clones share them, so a test can inspect and change the records of a store.
#[derive(Clone, Debug, Default)]
pub struct MemoryBackend {
    shared: Arc<Mutex<Contents>>,
}

#[derive(Clone, Debug, Default)]
struct Contents {
    records: BTreeMap<Vec<u8>, Vec<u8>>,
}

impl MemoryBackend {
    /// Creates a backend without records.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns every record, sorted by key.
    #[must_use]
    pub fn records(&self) -> Vec<StoredRecord> {
        self.contents().records.iter().map(|(key, value)| (key.clone(), value.clone())).collect()
    }

    /// Writes or removes a record without the store's knowledge.
    pub fn tamper(&self, key: &[u8], value: Option<Vec<u8>>) {
        apply(&mut self.contents().records, &RecordChange { key: key.to_vec(), value });
    }

    /// Returns an independent copy of all records.
    #[must_use]
    pub fn copy(&self) -> Self {
        Self { shared: Arc::new(Mutex::new(self.contents().clone())) }
    }

    fn contents(&self) -> MutexGuard<'_, Contents> {
        // A poisoned lock is safe, because every change of the contents is complete before anything can panic.
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn apply(records: &mut BTreeMap<Vec<u8>, Vec<u8>>, change: &RecordChange) {
    match &change.value {
        Some(value) => records.insert(change.key.clone(), value.clone()),
        None => records.remove(&change.key),
    };
}

fn is_empty(range: &Range<Vec<u8>>) -> bool {
    range.start >= range.end
}

impl Backend for MemoryBackend {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, BackendError> {
        Ok(self.contents().records.get(key).cloned())
    }

    fn get_all(&self, keys: &[Vec<u8>]) -> Result<Vec<Option<Vec<u8>>>, BackendError> {
        let contents = self.contents();
        Ok(keys.iter().map(|key| contents.records.get(key).cloned()).collect())
    }

    fn scan(&self, range: &Range<Vec<u8>>, limit: usize) -> Result<Vec<StoredRecord>, BackendError> {
        if is_empty(range) {
            return Ok(Vec::new());
        }
        let contents = self.contents();
        let found = contents.records.range(range.clone()).take(limit);
        Ok(found.map(|(key, value)| (key.clone(), value.clone())).collect())
    }

    fn last(&self, range: &Range<Vec<u8>>) -> Result<Option<StoredRecord>, BackendError> {
        if is_empty(range) {
            return Ok(None);
        }
        let contents = self.contents();
        let found = contents.records.range(range.clone()).next_back();
        Ok(found.map(|(key, value)| (key.clone(), value.clone())))
    }

    fn write(&self, changes: &[RecordChange]) -> Result<(), BackendError> {
        let mut contents = self.contents();
        for change in changes {
            apply(&mut contents.records, change);
        }
        Ok(())
    }
}
