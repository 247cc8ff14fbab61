//! What the records of matches and branches say.

use turnfold_core::Digest;

use crate::backend::{Backend, StoredRecord};
use crate::entry::Genesis;
use crate::error::StoreError;
use crate::layout::record::{BranchRecord, MatchRecord, Parent, StoreRecord};
use crate::layout::{chain, key, record};
use crate::names::{BranchName, MatchName};

/// Beyond any number that a store counts to; what claims more is damaged, and counting on never overflows.
pub(crate) const COUNT_MAX: u64 = u64::MAX / 2;

fn read_store_record(value: &[u8]) -> Result<StoreRecord, StoreError> {
    let record: StoreRecord = record::read("the store's own record", key::STORE, value)?;
    if record.next_id > COUNT_MAX || record.matches > COUNT_MAX {
        return Err(StoreError::damaged("the store's own record counts more than there can be"));
    }
    Ok(record)
}

/// Reads the store's own record from a backend, if it is there.
pub(crate) fn find_store_record(backend: &dyn Backend) -> Result<Option<StoreRecord>, StoreError> {
    backend.get(key::STORE)?.as_deref().map(read_store_record).transpose()
}

/// Requires a record to lie under the key for which it was written.
pub(crate) fn require_in_place(what: &str, key: &[u8], value: &[u8]) -> Result<(), StoreError> {
    let body = record::body_of(key, value).map(|_| ());
    body.map_err(|reason| StoreError::damaged(format!("{what}: {reason}")))
}

/// A match as its record describes it.
#[derive(Clone, Debug)]
pub(crate) struct FoundMatch {
    pub(crate) name: MatchName,
    pub(crate) id: u64,
    pub(crate) branches: u64,
    pub(crate) genesis: Vec<u8>,
}

impl FoundMatch {
    pub(crate) fn read(name: MatchName, key: &[u8], value: &[u8]) -> Result<Self, StoreError> {
        let record = record::read::<MatchRecord<'_>>("its match record", key, value);
        let MatchRecord { id, branches, genesis } = record.map_err(|error| error.within(&name, None))?;
        if branches > COUNT_MAX {
            return Err(StoreError::damaged("it cannot have so many branches").within(&name, None));
        }
        Ok(Self { name, id, branches, genesis: genesis.to_vec() })
    }

    pub(crate) fn genesis(&self) -> Result<Genesis, StoreError> {
        let genesis = Genesis::decode(&self.genesis);
        genesis.map_err(|error| StoreError::damaged(format!("its genesis: {error}")).within(&self.name, None))
    }
}

/// Returns the name in a match record's key.
pub(crate) fn match_name_in(key: &[u8]) -> Result<MatchName, StoreError> {
    let name = key::text_after(key, key::MATCH_PREFIX).and_then(|text| text.parse().ok());
    name.ok_or_else(|| StoreError::damaged("a match record has no proper name"))
}

/// The record of a branch, not yet read.
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

    pub(crate) fn read(&self, of: &FoundMatch) -> Result<FoundBranch, StoreError> {
        FoundBranch::read(of, self.name.clone(), &self.key, &self.value)
    }
}

/// A branch as its record describes it.
#[derive(Clone, Debug)]
pub(crate) struct FoundBranch {
    pub(crate) name: BranchName,
    pub(crate) id: u64,
    pub(crate) parent: Option<Parent>,
    /// The link before the branch's first own entry.
    pub(crate) before: Digest,
}

impl FoundBranch {
    pub(crate) fn read(
        of: &FoundMatch,
        name: BranchName,
        key: &[u8],
        value: &[u8],
    ) -> Result<Self, StoreError> {
        let BranchRecord { id, parent } = record::read("its branch record", key, value)?;
        if parent.is_none() != name.is_main() {
            return Err(StoreError::damaged("its branch record has no parent, or `main` has one"));
        }
        if parent.as_ref().is_some_and(|parent| parent.id >= id || parent.at > COUNT_MAX) {
            return Err(StoreError::damaged("its branch record names a parent that cannot be"));
        }
        let before = parent.as_ref().map_or_else(|| chain::genesis_link(&of.genesis), |parent| parent.link);
        Ok(Self { name, id, parent, before })
    }

    /// Returns the number of the last entry that the branch has from its parent.
    pub(crate) fn forked_at(&self) -> u64 {
        self.parent.as_ref().map_or(0, |parent| parent.at)
    }

    /// Returns the name of the branch it begins on; `None` for `main`.
    pub(crate) fn parent_name(&self) -> Result<Option<BranchName>, StoreError> {
        let name = self.parent.as_ref().map(|parent| parent.name.parse::<BranchName>());
        name.transpose().map_err(|error| StoreError::damaged(error.to_string()))
    }
}
