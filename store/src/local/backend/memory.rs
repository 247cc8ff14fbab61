//! Records in memory, for tests and for folds that need no disk.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{Backend, BackendError, RecordChange, StoredRecord, Watermark};

/// Records in memory. Clones share them, so that a test can look at and change what a store holds.
#[derive(Clone, Debug, Default)]
pub struct MemoryBackend {
    shared: Arc<Mutex<Contents>>,
}

#[derive(Clone, Debug, Default)]
struct Contents {
    visible: BTreeMap<Vec<u8>, Vec<u8>>,
    /// Changes that a power cut would undo.
    unflushed: Vec<RecordChange>,
    durable: BTreeMap<Vec<u8>, Vec<u8>>,
    watermark: Option<Watermark>,
}

impl MemoryBackend {
    /// Makes an empty one.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns every record, in the order of their keys.
    #[must_use]
    pub fn records(&self) -> Vec<StoredRecord> {
        self.contents().visible.iter().map(|(key, value)| (key.clone(), value.clone())).collect()
    }

    /// Writes or removes a record behind the store's back.
    pub fn tamper(&self, key: &[u8], value: Option<Vec<u8>>) {
        let change = RecordChange { key: key.to_vec(), value };
        let mut contents = self.contents();
        apply(&mut contents.visible, &change);
        apply(&mut contents.durable, &change);
    }

    /// Returns what a power cut would leave: everything flushed, and nothing else.
    #[must_use]
    pub fn after_power_cut(&self) -> Self {
        let contents = self.contents();
        let (durable, watermark) = (contents.durable.clone(), contents.watermark.clone());
        let left = Contents { visible: durable.clone(), unflushed: Vec::new(), durable, watermark };
        Self { shared: Arc::new(Mutex::new(left)) }
    }

    /// Returns an independent copy of everything.
    #[must_use]
    pub fn copy(&self) -> Self {
        Self { shared: Arc::new(Mutex::new(self.contents().clone())) }
    }

    fn contents(&self) -> MutexGuard<'_, Contents> {
        // Every change to the contents is complete before anything can panic.
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
        Ok(self.contents().visible.get(key).cloned())
    }

    fn scan(&self, range: &Range<Vec<u8>>, limit: usize) -> Result<Vec<StoredRecord>, BackendError> {
        if is_empty(range) {
            return Ok(Vec::new());
        }
        let contents = self.contents();
        let found = contents.visible.range(range.clone()).take(limit);
        Ok(found.map(|(key, value)| (key.clone(), value.clone())).collect())
    }

    fn last(&self, range: &Range<Vec<u8>>) -> Result<Option<StoredRecord>, BackendError> {
        if is_empty(range) {
            return Ok(None);
        }
        let contents = self.contents();
        let found = contents.visible.range(range.clone()).next_back();
        Ok(found.map(|(key, value)| (key.clone(), value.clone())))
    }

    fn write(&self, changes: &[RecordChange]) -> Result<(), BackendError> {
        let mut contents = self.contents();
        for change in changes {
            apply(&mut contents.visible, change);
            contents.unflushed.push(change.clone());
        }
        Ok(())
    }

    fn flush(&self) -> Result<(), BackendError> {
        let mut contents = self.contents();
        let Contents { unflushed, durable, .. } = &mut *contents;
        for change in unflushed.drain(..) {
            apply(durable, &change);
        }
        Ok(())
    }

    fn watermark(&self) -> Result<Option<Watermark>, BackendError> {
        Ok(self.contents().watermark.clone())
    }

    fn watermark_damage(&self) -> Result<Option<String>, BackendError> {
        Ok(None)
    }

    fn set_watermark(&self, watermark: &Watermark) -> Result<(), BackendError> {
        self.contents().watermark = Some(watermark.clone());
        Ok(())
    }
}
