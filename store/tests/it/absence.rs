//! Absence: to find that a name is missing, the store does not search everything it has.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use turnfold_store::backend::MemoryBackend;
use turnfold_store::backend::{Backend, BackendError, RecordChange, StoredRecord};
use turnfold_store::{BranchName, Store, StoreError};

use crate::game::{genesis, name, opaque};

/// Records in memory that count how often a range of them is read.
#[derive(Clone, Default)]
struct Scans {
    inner: MemoryBackend,
    count: Arc<AtomicU64>,
}

impl Scans {
    fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }
}

impl Backend for Scans {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, BackendError> {
        self.inner.get(key)
    }

    fn scan(&self, range: &Range<Vec<u8>>, limit: usize) -> Result<Vec<StoredRecord>, BackendError> {
        self.count.fetch_add(1, Ordering::Relaxed);
        self.inner.scan(range, limit)
    }

    fn last(&self, range: &Range<Vec<u8>>) -> Result<Option<StoredRecord>, BackendError> {
        self.inner.last(range)
    }

    fn write(&self, changes: &[RecordChange]) -> Result<(), BackendError> {
        self.inner.write(changes)
    }
}

#[test]
fn a_match_that_is_not_there_costs_no_look_at_those_that_are() {
    let scans = Scans::default();
    let store = Store::with_backend(Box::new(scans.clone())).unwrap();
    for number in 0..40 {
        store.create_match(&name(&format!("m{number}")), &genesis(), vec![opaque(1)]).unwrap();
    }
    let before = scans.count();
    let none = store.genesis(&name("m40")).unwrap_err();
    assert!(matches!(none, StoreError::NoSuchMatch { .. }), "{none}");
    let none = store.append(&name("m40"), &BranchName::main(), 0, vec![opaque(1)], None).unwrap_err();
    assert!(matches!(none, StoreError::NoSuchMatch { .. }), "{none}");
    assert_eq!(scans.count(), before);
    assert!(store.audit(&name("m40")).is_err());
    assert!(scans.count() > before, "an audit counts");
}
