//! The comparison of the journal with the records that are kept of it (ST-7, ST-13).

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::backend::{Backend, BackendError, RecordChange, StoredRecord};
use super::journal::image::{Image, read_beside};
use super::layout::key;
use super::scan::Scan;
use super::staging::sound_body;
use super::view::View;
use crate::entry::encode;

/// Reads every commit of a journal, proves the digests, and requires the records to be those that a replay makes.
///
/// Pages may be cut otherwise, and idempotency keys are found among entries; both are held against the heads by an audit.
pub(crate) fn compare(journal: &Path, records: Option<&dyn Backend>) -> Result<Vec<String>, BackendError> {
    let read = read_beside(journal).and_then(|image| View::read(&image, u64::MAX, true));
    let view = match read {
        Ok(view) => view,
        Err(BackendError::Damaged(reason)) => return Ok(vec![reason]),
        Err(error) => return Err(error),
    };
    let Some(records) = records else { return Ok(Vec::new()) };
    let mut damage = Vec::new();
    let mut expected: BTreeMap<_, _> = view.small().collect();
    expected.insert(key::STORE.to_vec(), encode(view.record()));
    for table in *b"abhims" {
        for record in Scan::new(records, vec![table]..vec![table + 1]) {
            let (key, value) = record?;
            let is_same = match expected.remove(&key) {
                Some(body) => sound_body(&key, &value).is_ok_and(|found| found == body),
                None => false,
            };
            if !is_same {
                damage
                    .push(format!("the index has another record `{}` than the journal", key.escape_ascii()));
            }
        }
    }
    let missing = expected.keys().map(|key| format!("the index has no record `{}`", key.escape_ascii()));
    damage.extend(missing);
    Ok(damage)
}

/// All records of a store in memory, to be compared with its journal.
pub(crate) struct Beside {
    view: View,
    journal: PathBuf,
}

impl Beside {
    /// Reads all commits of a journal.
    pub(crate) fn read(image: &Image) -> Result<Self, BackendError> {
        Ok(Self { view: View::read(image, u64::MAX, false)?, journal: image.dir.clone() })
    }
}

impl Backend for Beside {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, BackendError> {
        self.view.get(key)
    }

    fn scan(&self, range: &Range<Vec<u8>>, limit: usize) -> Result<Vec<StoredRecord>, BackendError> {
        self.view.scan(range, limit)
    }

    fn last(&self, range: &Range<Vec<u8>>) -> Result<Option<StoredRecord>, BackendError> {
        self.view.last(range)
    }

    fn write(&self, changes: &[RecordChange]) -> Result<(), BackendError> {
        self.view.write(changes)
    }

    fn compare(&self) -> Result<Vec<String>, BackendError> {
        compare(&self.journal, None)
    }
}
