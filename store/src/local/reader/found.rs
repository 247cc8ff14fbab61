//! Reads the records of matches and branches.

use crate::error::StoreError;
use crate::local::backend::{Backend, StoredRecord};
use crate::local::layout::record::{BranchRecord, MatchRecord, StoreRecord};
use crate::local::layout::{key, record};
use crate::names::{BranchName, MatchName};
use crate::reader::found::{EngineMatchId, FoundBranch, FoundMatch};

/// The most that a store can count to. A record that claims more is damaged. The limit also keeps additions from
/// overflowing.
pub(crate) const COUNT_MAX: u64 = u64::MAX / 2;

fn read_store_record(value: &[u8]) -> Result<StoreRecord, StoreError> {
    let record: StoreRecord = record::read("the store's own record", key::STORE, value)?;
    if record.next_id > COUNT_MAX || record.matches > COUNT_MAX {
        return Err(StoreError::damaged("the store's own record counts more than there can be"));
    }
    Ok(record)
}

/// Reads the store's own record from a backend; `None` if it is missing.
pub(crate) fn find_store_record(backend: &dyn Backend) -> Result<Option<StoreRecord>, StoreError> {
    backend.get(key::STORE)?.as_deref().map(read_store_record).transpose()
}

/// Requires a record to be stored under the key that it was written for.
pub(crate) fn require_in_place(what: &str, key: &[u8], value: &[u8]) -> Result<(), StoreError> {
    let body = record::body_of(key, value).map(|_| ());
    body.map_err(|reason| StoreError::damaged(format!("{what}: {reason}")))
}

pub(crate) fn read_match(name: MatchName, key: &[u8], value: &[u8]) -> Result<FoundMatch, StoreError> {
    let at_match = |error: StoreError| error.within(&name, None);
    let what = "its match record";
    let body = record::body_of(key, value).map_err(|reason| StoreError::damaged(format!("{what}: {reason}")));
    let record = MatchRecord::read(what, body.map_err(at_match)?).map_err(|error| at_match(error.into()));
    let MatchRecord { id, branches, genesis, module } = record?;
    if branches > COUNT_MAX {
        return Err(StoreError::damaged("it has too many branches").within(&name, None));
    }
    Ok(FoundMatch { name, id: EngineMatchId(id.into()), branches, genesis: genesis.to_vec(), module })
}

/// Returns the name in the key of a match record.
pub(crate) fn match_name_in(key: &[u8]) -> Result<MatchName, StoreError> {
    let name = key::text_after(key, key::MATCH_PREFIX).and_then(|text| text.parse().ok());
    name.ok_or_else(|| StoreError::damaged("a match record has no proper name"))
}

/// The record of a branch that has not been read yet.
pub(crate) struct StoredBranch {
    pub(crate) name: BranchName,
    key: Vec<u8>,
    value: Vec<u8>,
}

impl StoredBranch {
    pub(crate) fn of((key, value): StoredRecord) -> Result<Self, StoreError> {
        let name = key::text_after(&key, key::ID_PREFIX).and_then(|text| text.parse().ok());
        let name = name.ok_or_else(|| StoreError::damaged("a branch record has no proper name"))?;
        Ok(Self { name, key, value })
    }

    pub(crate) fn require_in_place(&self) -> Result<(), StoreError> {
        require_in_place("a branch record", &self.key, &self.value)
    }

    pub(crate) fn read(&self, found_match: &FoundMatch) -> Result<FoundBranch, StoreError> {
        read_branch(found_match, self.name.clone(), &self.key, &self.value)
    }
}

pub(crate) fn read_branch(
    found_match: &FoundMatch,
    name: BranchName,
    key: &[u8],
    value: &[u8],
) -> Result<FoundBranch, StoreError> {
    let BranchRecord { id, parent } = record::read("its branch record", key, value)?;
    if parent.is_none() != name.is_main() {
        return Err(StoreError::damaged("its branch record has no parent, or `main` has one"));
    }
    if parent.as_ref().is_some_and(|parent| parent.id >= id || parent.at > COUNT_MAX) {
        return Err(StoreError::damaged("its branch record names a parent that cannot be"));
    }
    let before = parent.as_ref().map_or_else(|| found_match.link(), |parent| parent.link);
    Ok(FoundBranch { name, id, parent, before })
}

impl FoundMatch {
    /// Returns the id of a match in a store on disk.
    pub(crate) fn number(&self) -> u64 {
        // Ids count up from 1: one for each match, branch or new name.
        u64::try_from(self.id.0).unwrap_or(u64::MAX)
    }
}
