//! Compares the journal with the index that was built from it (ST-7, ST-13).

use std::collections::BTreeMap;

use super::backend::{Backend, BackendError};
use super::dir::files::Places;
use super::index::open_index::behind;
use super::layout::key;
use super::scan::scan;
use super::staging::sound_body;
use super::view::MemoryRecords;
use crate::entry::encode;

/// Reads every commit of a journal, checks the digests, and returns each difference between the records and a replay.
/// `index` is the number of the index that contains the records.
///
/// It leaves out pages, which may be split differently, and idempotency keys. An audit checks both against the entries
/// and heads.
pub(crate) fn compare(
    places: &Places,
    records: &dyn Backend,
    index: u32,
) -> Result<Vec<String>, BackendError> {
    let view = match MemoryRecords::proven(&places.journal)? {
        Ok(view) => view,
        Err(reason) => return Ok(vec![reason]),
    };
    let mut damage = Vec::new();
    let mut expected: BTreeMap<_, _> = view.small().collect();
    expected.insert(key::STORE.to_vec(), encode(view.record()));
    for table in *b"abhimns" {
        for record in scan(records, vec![table]..vec![table + 1]) {
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
    damage.extend(behind(&places.sled, view.record(), Some(index))?);
    Ok(damage)
}
