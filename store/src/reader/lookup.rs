//! Finding matches, branches and heads by name.

use std::sync::PoisonError;

use turnfold_core::Digest;

use crate::entry::Genesis;
use crate::error::StoreError;
use crate::layout::record::{BranchRecord, HeadRecord, MatchRecord, Parent, StoreRecord};
use crate::layout::{chain, key, record};
use crate::names::{BranchName, MatchName};
use crate::open::Shared;

/// Beyond any number that a store counts to; what claims more is damaged, and counting on never overflows.
const COUNT_MAX: u64 = u64::MAX / 2;

pub(crate) fn read_store_record(value: &[u8]) -> Result<StoreRecord, StoreError> {
    let record: StoreRecord = record::read("the store's own record", key::STORE, value)?;
    if record.next_id > COUNT_MAX || record.matches > COUNT_MAX {
        return Err(StoreError::damaged("the store's own record counts more than there can be"));
    }
    Ok(record)
}

/// A match as its record tells of it.
#[derive(Clone, Debug)]
pub(crate) struct FoundMatch {
    pub(crate) id: u64,
    pub(crate) branches: u64,
    pub(crate) genesis: Vec<u8>,
}

impl FoundMatch {
    pub(crate) fn read(name: &MatchName, key: &[u8], value: &[u8]) -> Result<Self, StoreError> {
        let record = record::read::<MatchRecord<'_>>("its match record", key, value);
        let MatchRecord { id, branches, genesis } = record.map_err(|error| error.within(name, None))?;
        if branches > COUNT_MAX {
            return Err(StoreError::damaged("it cannot have so many branches").within(name, None));
        }
        Ok(Self { id, branches, genesis: genesis.to_vec() })
    }

    pub(crate) fn genesis(&self, name: &MatchName) -> Result<Genesis, StoreError> {
        let genesis = Genesis::decode(&self.genesis);
        genesis.map_err(|error| StoreError::damaged(format!("its genesis: {error}")).within(name, None))
    }
}

/// A branch as its record tells of it.
#[derive(Clone, Debug)]
pub(crate) struct FoundBranch {
    pub(crate) id: u64,
    pub(crate) parent: Option<Parent>,
    /// The link before the branch's first own entry.
    pub(crate) before: Digest,
}

impl FoundBranch {
    pub(crate) fn read(
        found_match: &FoundMatch,
        name: &BranchName,
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
        let before =
            parent.as_ref().map_or_else(|| chain::genesis_link(&found_match.genesis), |parent| parent.link);
        Ok(Self { id, parent, before })
    }

    /// Gives the number of the last entry that the branch has from its parent.
    pub(crate) fn forked_at(&self) -> u64 {
        self.parent.as_ref().map_or(0, |parent| parent.at)
    }
}

/// Requires a record to lie under the key for which it was written.
fn require_in_place(what: &str, key: &[u8], value: &[u8]) -> Result<(), StoreError> {
    let unsealed = record::unseal(key, value).map(|_| ());
    unsealed.map_err(|reason| StoreError::damaged(format!("{what}: {reason}")))
}

impl Shared {
    pub(crate) fn read_store(&self) -> Result<StoreRecord, StoreError> {
        let value = self.backend.get(key::STORE)?;
        let value = value.ok_or_else(|| StoreError::damaged("the store's own record is missing"))?;
        read_store_record(&value)
    }

    pub(crate) fn find_match(&self, name: &MatchName) -> Result<FoundMatch, StoreError> {
        let key = key::of_match(name);
        let value = self.backend.get(&key).map_err(|error| StoreError::from(error).within(name, None))?;
        let Some(value) = value else {
            // It never was, or its record is gone: then there are fewer than there should be, or one lies elsewhere.
            self.require_all_matches()?;
            for record in self.scan(key::all_matches()) {
                let (key, value) = record?;
                require_in_place("a match record", &key, &value)?;
            }
            return Err(StoreError::NoSuchMatch { match_name: name.clone() });
        };
        FoundMatch::read(name, &key, &value)
    }

    pub(crate) fn find_branch(
        &self,
        match_name: &MatchName,
        found_match: &FoundMatch,
        name: &BranchName,
    ) -> Result<FoundBranch, StoreError> {
        let key = key::of_branch(found_match.id, name);
        let at_branch = |error: StoreError| error.within(match_name, Some(name));
        let value = self.backend.get(&key).map_err(|error| at_branch(error.into()))?;
        match value {
            Some(value) => FoundBranch::read(found_match, name, &key, &value).map_err(at_branch),
            None if name.is_main() => Err(at_branch(StoreError::damaged("its branch record is missing"))),
            None => {
                let (_, records) = self.branch_records(match_name)?;
                let all_in_place = records
                    .iter()
                    .try_for_each(|(_, key, value)| require_in_place("a branch record", key, value));
                all_in_place.map_err(|error| error.within(match_name, None))?;
                let (match_name, branch) = (match_name.clone(), name.clone());
                Err(StoreError::NoSuchBranch { match_name, branch })
            }
        }
    }

    /// Gives the acknowledged head of a branch.
    pub(crate) fn head(&self, branch: &FoundBranch) -> Result<HeadRecord, StoreError> {
        // The committer cannot begin to write newer heads while we hold this.
        let acknowledged = self.acknowledged.read().unwrap_or_else(PoisonError::into_inner);
        match acknowledged.get(&branch.id) {
            Some(head) => Ok(*head),
            None => self.stored_head(branch),
        }
    }

    /// Gives the head of a branch as it is written, durable or not.
    pub(crate) fn stored_head(&self, branch: &FoundBranch) -> Result<HeadRecord, StoreError> {
        let key = key::of_head(branch.id);
        let value = self.backend.get(&key)?;
        let value = value.ok_or_else(|| StoreError::damaged("its head record is missing"))?;
        let head: HeadRecord = record::read("its head record", &key, &value)?;
        if !(branch.forked_at()..=COUNT_MAX).contains(&head.seq) {
            return Err(StoreError::damaged(format!("its head cannot be at {}", head.seq)));
        }
        Ok(head)
    }

    /// Finds a match's branch and its acknowledged head.
    pub(crate) fn find(
        &self,
        match_name: &MatchName,
        name: &BranchName,
    ) -> Result<(FoundMatch, FoundBranch, HeadRecord), StoreError> {
        match self.find_at_once(match_name, name) {
            // What is deleted while we look seems damaged; the second time it is not there.
            Err(StoreError::Corrupt { .. }) => self.find_at_once(match_name, name),
            found => found,
        }
    }

    fn find_at_once(
        &self,
        match_name: &MatchName,
        name: &BranchName,
    ) -> Result<(FoundMatch, FoundBranch, HeadRecord), StoreError> {
        let found_match = self.find_match(match_name)?;
        let branch = self.find_branch(match_name, &found_match, name)?;
        let head = self.head(&branch).map_err(|error| error.within(match_name, Some(name)))?;
        Ok((found_match, branch, head))
    }
}
