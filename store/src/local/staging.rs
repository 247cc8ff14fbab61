//! Staging: the records that a replay makes, as changes on top of a backend's records.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::entry::encode;
use crate::local::backend::{Backend, BackendError, RecordChange, StoredRecord, scan};
use crate::local::page::{PagePart, cut};
use crate::local::record::{IdempotencyRecord, StoreRecord};
use crate::local::replay::ReplayTarget;
use crate::local::{key, record};
use crate::reader::branch::Head;

pub(crate) struct Staging<'a> {
    below: &'a dyn Backend,
    /// The bodies of changed records; `None` for a removed record.
    bodies: BTreeMap<Vec<u8>, Option<Vec<u8>>>,
    pages: BTreeMap<u64, Vec<PagePart>>,
    pub(crate) store: StoreRecord,
    bytes: usize,
}

impl<'a> Staging<'a> {
    pub(crate) fn over(below: &'a dyn Backend, store: StoreRecord) -> Self {
        Self { below, bodies: BTreeMap::new(), pages: BTreeMap::new(), store, bytes: 0 }
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Takes out all changes. The record about the store is the last.
    pub(crate) fn take_changes(&mut self) -> Vec<RecordChange> {
        let mut changes = Vec::new();
        for (key, body) in std::mem::take(&mut self.bodies) {
            let value = body.map(|body| record::with_check(&key, body));
            changes.push(RecordChange { key, value });
        }
        for (branch, parts) in std::mem::take(&mut self.pages) {
            for part in parts {
                changes.push(part.put(branch));
            }
        }
        changes.push(record::put(key::STORE.to_vec(), &self.store));
        self.bytes = 0;
        changes
    }
}

pub(crate) fn sound_body(key: &[u8], value: &[u8]) -> Result<Vec<u8>, BackendError> {
    match record::body_of(key, value) {
        Ok(body) => Ok(body.to_vec()),
        Err(reason) => Err(BackendError::Damaged(format!("the record `{}`: {reason}", key.escape_ascii()))),
    }
}

impl ReplayTarget for Staging<'_> {
    fn body(&self, key: &[u8]) -> Result<Option<Vec<u8>>, BackendError> {
        if let Some(body) = self.bodies.get(key) {
            return Ok(body.clone());
        }
        match self.below.get(key)? {
            Some(value) => sound_body(key, &value).map(Some),
            None => Ok(None),
        }
    }

    fn records(&self, range: Range<Vec<u8>>) -> Result<Vec<StoredRecord>, BackendError> {
        let mut merged = BTreeMap::new();
        for record in scan(self.below, range.clone()) {
            let (key, value) = record?;
            let body = sound_body(&key, &value)?;
            merged.insert(key, body);
        }
        for (key, body) in self.bodies.range(range) {
            match body {
                Some(body) => merged.insert(key.clone(), body.clone()),
                None => merged.remove(key),
            };
        }
        Ok(merged.into_iter().collect())
    }

    fn put(&mut self, key: Vec<u8>, body: Option<Vec<u8>>) {
        self.bytes += key.len() + body.as_ref().map_or(0, Vec::len) + 32;
        self.bodies.insert(key, body);
    }

    fn append(&mut self, branch: u64, before: Head, after: Head, entries: &[&[u8]]) {
        let parts = self.pages.entry(branch).or_default();
        for part in cut(before, after, entries) {
            self.bytes += part.size();
            PagePart::add(parts, part);
        }
    }

    fn put_key(&mut self, branch: u64, key: &str, entries: IdempotencyRecord) {
        let key = [key::idempotency_of(branch).start.as_slice(), key.as_bytes()].concat();
        self.put(key, Some(encode(&entries)));
    }

    fn forget(&mut self, branch: u64) -> Result<(), BackendError> {
        self.pages.remove(&branch);
        for range in [key::idempotency_of(branch), key::pages_of(branch)] {
            let mut removed = Vec::new();
            for (key, _) in self.bodies.range(range.clone()) {
                removed.push(key.clone());
            }
            for record in scan(self.below, range) {
                removed.push(record?.0);
            }
            for key in removed {
                self.put(key, None);
            }
        }
        Ok(())
    }

    fn store(&mut self) -> &mut StoreRecord {
        &mut self.store
    }
}
