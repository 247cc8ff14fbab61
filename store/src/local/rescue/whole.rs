//! Whether a copy of a store that opens shows everything that the store ever acknowledged.

use std::collections::BTreeMap;
use std::path::Path;

use super::check::check;
use super::marks::Marks;
use crate::error::StoreError;
use crate::local::backend::sled::raw::{self, Candidate};
use crate::local::layout::key;
use crate::local::layout::record::{self, BranchRecord, MatchRecord, StoreRecord};
use crate::local::reader::records::Records;
use crate::reader::found::Head;

/// Requires that everything can be read and is sound, that nothing is missing as far as the watermark tells, and that
/// sled's file holds nothing newer.
pub(super) fn require(records: &Records, marks: &Marks, db: &Path) -> Result<(), String> {
    let record = records.store_record().map_err(StoreError::reason)?;
    if marks.valid.iter().any(|mark| mark.commits > record.now.commits) {
        return Err("the records are older than the file `WATERMARK`".to_owned());
    }
    if marks.newest().is_some_and(|mark| *mark != record.now && *mark != record.marked) {
        return Err("the file `WATERMARK` belongs to another history".to_owned());
    }
    let check = check(records, &mut |_| {}).map_err(StoreError::reason)?;
    if let Some(found) = check.damage.into_iter().next() {
        return Err(found.reason);
    }
    let shown = Shown::of(records, record).map_err(StoreError::reason)?;
    let mut is_newest = true;
    raw::each_candidate(db, &mut |found| is_newest &= !shown.is_older_than(found))
        .map_err(|error| error.to_string())?;
    if is_newest {
        Ok(())
    } else {
        Err("sled's file holds records that are newer than what sled finds".to_owned())
    }
}

/// How far everything goes that a copy shows.
struct Shown {
    record: StoreRecord,
    /// The last entry of each branch, by its id.
    heads: BTreeMap<u64, u64>,
}

impl Shown {
    fn of(records: &Records, record: StoreRecord) -> Result<Self, StoreError> {
        let mut heads = BTreeMap::new();
        for found in records.found_matches(None)? {
            for branch in records.branches_of(&found?.name)?.1 {
                heads.insert(branch.id, records.head(&branch)?.seq);
            }
        }
        Ok(Self { record, heads })
    }

    /// Returns `true` if a sound record says more than is shown.
    fn is_older_than(&self, found: &Candidate<'_>) -> bool {
        let Candidate { key, value, .. } = found;
        let is_later = |id: u64| id >= self.record.next_id;
        let beyond = |id: u64, seq: u64| is_later(id) || self.heads.get(&id).is_some_and(|head| seq > *head);
        let (id, seq) = (key::id_of(key), key::seq_of(key));
        let says_more = match key.first() {
            Some(b's') if key == key::STORE => {
                return record::read::<StoreRecord>("", key, value)
                    .is_ok_and(|found| found.now.commits > self.record.now.commits);
            }
            Some(b'm') => {
                return record::read::<MatchRecord<'_>>("", key, value).is_ok_and(|found| is_later(found.id));
            }
            Some(b'b') => {
                return record::read::<BranchRecord>("", key, value).is_ok_and(|found| is_later(found.id));
            }
            Some(b'h') => {
                return id.is_some_and(|id| self.heads.contains_key(&id) || is_later(id))
                    && record::read::<Head>("", key, value)
                        .is_ok_and(|head| beyond(id.unwrap_or_default(), head.seq));
            }
            Some(b'g') => seq.is_some_and(|commit| commit > self.record.now.commits),
            Some(b't' | b'p') => id.zip(seq).is_some_and(|(id, seq)| beyond(id, seq)),
            _ => false,
        };
        says_more && record::body_of(key, value).is_ok()
    }
}
