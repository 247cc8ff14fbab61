//! Finds branches and idempotency keys, and checks that all records are there.

use super::found::{StoredBranch, read_branch, require_in_place};
use super::records::Records;
use crate::engine::EngineReader as _;
use crate::error::StoreError;
use crate::local::layout::record::IdempotencyRecord;
use crate::local::layout::{key, record};
use crate::names::{BranchName, IdempotencyKey, MatchName};
use crate::reader::branch::Branch;
use crate::reader::found::{FoundBranch, FoundMatch};

impl Records {
    pub(crate) fn find_branch(
        &self,
        found_match: &FoundMatch,
        name: &BranchName,
    ) -> Result<FoundBranch, StoreError> {
        let key = key::of_branch(found_match.number(), name);
        let at_branch = |error: StoreError| error.within(&found_match.name, Some(name));
        let value = self.backend.get(&key).map_err(|error| at_branch(error.into()))?;
        match value {
            Some(value) => read_branch(found_match, name.clone(), &key, &value).map_err(at_branch),
            None if name.is_main() => Err(at_branch(StoreError::damaged("its branch record is missing"))),
            None => {
                // A match has few branches, so all their records are checked. A lost record is damage, not a
                // branch that does not exist.
                let (_, stored) = self.stored_branches(&found_match.name)?;
                for stored in &stored {
                    stored.require_in_place().map_err(|error| error.within(&found_match.name, None))?;
                }
                Err(StoreError::NoSuchBranch { match_name: found_match.name.clone(), branch: name.clone() })
            }
        }
    }

    /// Reads the acknowledged head of a branch.
    pub(crate) fn branch(&self, found_match: &FoundMatch, found: FoundBranch) -> Result<Branch, StoreError> {
        let head = self.head(&found).map_err(|error| error.within(&found_match.name, Some(&found.name)))?;
        Ok(Branch { found_match: found_match.clone(), found, head })
    }

    /// Returns a match and its branches; an error if one of them cannot be read.
    pub(crate) fn branches_of(&self, name: &MatchName) -> Result<(FoundMatch, Vec<FoundBranch>), StoreError> {
        let (found_match, stored) = self.stored_branches(name)?;
        let read = |stored: StoredBranch| {
            stored.read(&found_match).map_err(|error| error.within(name, Some(&stored.name)))
        };
        let branches = stored.into_iter().map(read).collect::<Result<_, _>>()?;
        Ok((found_match, branches))
    }

    /// Returns a match and the unread records of its branches, as many as the match counts.
    pub(crate) fn stored_branches(
        &self,
        name: &MatchName,
    ) -> Result<(FoundMatch, Vec<StoredBranch>), StoreError> {
        let found = unless_changed(
            || {
                let next_id = self.store_record().ok().map(|record| record.next_id);
                self.found_match(name).map(|found| (found.number(), found.branches, next_id))
            },
            |(id, expected, _)| {
                let records = self.scan_all(key::branches_of(id))?;
                let is_right = records.len() as u64 == expected;
                Ok(is_right.then_some(records).ok_or(expected))
            },
        )?;
        let records = found.map_err(|expected| {
            let reason = format!("it should have {expected} branches, but the store holds another number");
            StoreError::damaged(reason).within(name, None)
        })?;
        let found_match = self.found_match(name)?;
        let stored = records.into_iter().map(StoredBranch::of).collect::<Result<_, _>>();
        Ok((found_match, stored.map_err(|error| error.within(name, None))?))
    }

    /// Returns the records of a match's branches, even if the match counts another number.
    pub(crate) fn readable_branches(
        &self,
        found_match: &FoundMatch,
    ) -> Result<Vec<StoredBranch>, StoreError> {
        self.scan(key::branches_of(found_match.number())).map(|record| StoredBranch::of(record?)).collect()
    }

    /// Returns the entries that carry an idempotency key on a branch; `None` if the key is unknown.
    pub(crate) fn keyed(
        &self,
        branch_id: u64,
        idempotency_key: &IdempotencyKey,
    ) -> Result<Option<IdempotencyRecord>, StoreError> {
        let key = key::of_idempotency(branch_id, idempotency_key);
        let value = self.backend.get(&key)?;
        value.map(|value| record::read("an idempotency key", &key, &value)).transpose()
    }

    /// Requires as many match records as the store counts, each stored under its own key.
    pub(crate) fn count_matches(&self) -> Result<(), StoreError> {
        let counted = unless_changed(
            || self.store_record().map(|record| (record.matches, record.next_id)),
            |(expected, _)| {
                let mut count = 0;
                for record in self.scan(key::all_matches()) {
                    let (key, value) = record?;
                    require_in_place("a match record", &key, &value)?;
                    count += 1;
                }
                Ok(if count == expected { Ok(()) } else { Err(expected) })
            },
        )?;
        counted.map_err(|expected| {
            StoreError::damaged(format!("it should hold {expected} matches, but holds another number"))
        })
    }
}

/// Returns what `look` finds. It retries a failed look as long as `version` changes, because a writer may have caused
/// it.
fn unless_changed<V: PartialEq + Copy, T, E>(
    version: impl Fn() -> Result<V, StoreError>,
    look: impl Fn(V) -> Result<Result<T, E>, StoreError>,
) -> Result<Result<T, E>, StoreError> {
    let mut before = version()?;
    loop {
        let found = look(before)?;
        let after = version()?;
        if found.is_ok() || after == before {
            return Ok(found);
        }
        before = after;
    }
}
