//! Implements the reading half of an engine for the records of a store on disk.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::RwLockReadGuard;

use turnfold_core::{Digest, Seat};

use crate::backup::error::RescueError;
use crate::backup::part::Totals;
use crate::engine::{
    Auditable, DamagedRecord, EngineReader, KeyedEntries, Packed, ReadAtOneMoment, Results, until_error,
};
use crate::entry::Seq;
use crate::error::{Placed, StoreError};
use crate::grant::Grant;
use crate::local::check::check;
use crate::local::journal::prove;
use crate::local::losses::locate;
use crate::local::record::IdempotencyRecord;
use crate::local::records::{Records, hold, read_match};
use crate::local::{key, record, swap};
use crate::names::{BranchName, GrantLabel, IdempotencyKey, MatchName};
use crate::note::{self, Note};
use crate::reader::branch::{Branch, FoundBranch, FoundMatch, Own};
use crate::reader::store_report::{MatchInfo, StoreCheck, StoreStats};
use crate::snapshots::Snapshots;

impl EngineReader for Records {
    fn found_match(&self, name: &MatchName) -> Result<FoundMatch, StoreError> {
        let key = key::of_match(name);
        let value = self.backend.get(&key).within(name, None)?;
        // Matches are not counted here, however many there are. An index is opened only if its last-written record
        // names the commit that the journal names. An audit finds missing records all the same.
        let value = value.ok_or_else(|| StoreError::NoSuchMatch { match_name: name.clone() })?;
        read_match(name.clone(), &key, &value)
    }

    fn require_all_matches(&self) -> Result<(), StoreError> {
        self.count_matches()
    }

    fn found_branch(&self, match_name: &MatchName, name: &BranchName) -> Result<Branch, StoreError> {
        match self.branch_named(match_name, name) {
            // A branch that is deleted during the read looks damaged. The second read finds that it does not exist.
            Err(StoreError::Corrupt { .. }) => self.branch_named(match_name, name),
            found => found,
        }
    }

    fn branches(&self, name: &MatchName) -> Result<(FoundMatch, Vec<Branch>), StoreError> {
        let (found_match, all_found) = self.branches_of(name)?;
        let mut branches = Vec::with_capacity(all_found.len());
        match self.heads_of(&all_found) {
            Ok(heads) => {
                for (found, head) in all_found.into_iter().zip(heads) {
                    branches.push(Branch { found_match: found_match.clone(), found, head });
                }
            }
            // Reads the heads one by one to find the damaged branch.
            Err(_) => {
                for found in all_found {
                    branches.push(self.branch(&found_match, found)?);
                }
            }
        }
        Ok((found_match, branches))
    }

    fn ancestry(
        &self,
        found_match: &FoundMatch,
        branch: &FoundBranch,
    ) -> Result<Vec<FoundBranch>, StoreError> {
        let mut ancestry = vec![branch.clone()];
        // The loop ends because a parent's id is less than its child's.
        while let Some(child) = ancestry.last()
            && let Some(parent) = &child.parent
        {
            let parent_name = child.parent_name().within(&found_match.name, Some(&child.name))?;
            let Some(name) = parent_name else { break };
            let found = self.find_branch(found_match, &name)?;
            if found.id != parent.id {
                let error = StoreError::damaged(format!("the branch `{name}` it begins on is another"));
                return Err(error.within(&found_match.name, Some(&child.name)));
            }
            ancestry.push(found);
        }
        Ok(ancestry)
    }

    fn matches_after(&self, after: Option<&MatchName>) -> Result<Results<'_, MatchInfo>, StoreError> {
        let mut found = self.found_matches(after)?;
        Ok(Box::new(until_error(move || {
            loop {
                let found_match = match found.next()? {
                    Ok(found_match) => found_match,
                    Err(error) => return Some(Err(error)),
                };
                let info = match_info(self, &found_match);
                if info.is_err()
                    && let Err(StoreError::NoSuchMatch { .. }) = self.found_match(&found_match.name)
                {
                    // It was deleted since it was found.
                    continue;
                }
                return Some(info);
            }
        })))
    }

    fn match_names(&self) -> Result<Results<'_, MatchName>, StoreError> {
        Ok(Box::new(self.found_matches(None)?.map(|found| Ok(found?.name))))
    }

    fn pages(
        &self,
        own: Own,
        from: Seq,
        take: &mut dyn FnMut(&Packed<'_>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let found = self.page_at(own.branch, own.first, from).at(from)?;
        let Some(stored) = found else { return Ok(()) };
        let page = stored.read()?;
        if stored.next(&page) <= from {
            return Ok(());
        }
        let first = stored.first;
        let after = Some(page.link);
        take(&Packed { first, before: None, records: page.records, after })
    }

    fn anchor(&self, own: Own, before: Digest, wanted: Seq) -> Result<(Seq, Digest), StoreError> {
        let mut from = wanted;
        // Before the branch's first page there is only the link at which it begins.
        while from > own.first
            && let Some(stored) = self.page_at(own.branch, own.first, from)?
        {
            let page = stored.read()?;
            let next = stored.next(&page);
            // During packing, a page may also hold entries of the page behind it.
            if next <= wanted {
                return Ok((next, page.link));
            }
            if stored.first <= own.first {
                break;
            }
            from = stored.first - 1;
        }
        Ok((own.first, before))
    }

    fn find_key(
        &self,
        branch: &Branch,
        idempotency_key: &IdempotencyKey,
    ) -> Result<Option<RangeInclusive<Seq>>, StoreError> {
        let found = self.keyed(branch.found.id, idempotency_key).map_err(|error| branch.within(error))?;
        // Entries behind the head are not acknowledged yet.
        Ok(found.filter(|found| found.last <= branch.head.seq).map(|found| found.first..=found.last))
    }

    fn find_grant(&self, hash: &Digest) -> Result<Option<Grant>, StoreError> {
        Ok(self.grant_record(hash)?.map(|record| record.grant))
    }

    fn grants_of(&self, match_name: &MatchName) -> Result<Vec<(Digest, Grant)>, StoreError> {
        let _grants = self.hold_grants();
        self.grants(&self.found_match(match_name)?)
    }

    fn is_taken(&self, match_name: &MatchName, seat: Seat, now_ms: i64) -> Result<bool, StoreError> {
        self.of_grants(match_name, |grants| grants.is_taken(seat, now_ms))
    }

    fn is_played(&self, match_name: &MatchName, seat: Seat, now_ms: i64) -> Result<bool, StoreError> {
        self.of_grants(match_name, |grants| grants.is_played(seat, now_ms))
    }

    fn names_of(
        &self,
        match_name: &MatchName,
        now_ms: i64,
    ) -> Result<BTreeMap<Seat, GrantLabel>, StoreError> {
        self.of_grants(match_name, |grants| grants.names(now_ms))
    }

    fn notes_of(&self, match_name: &MatchName) -> Result<Vec<Note>, StoreError> {
        let placed = self.placed_notes(&self.found_match(match_name)?)?;
        if placed.is_empty() {
            return Ok(Vec::new());
        }
        let (_, branches) = self.branches_of(match_name)?;
        let mut notes = Vec::new();
        for note in placed {
            // Notes on branches that were deleted are left out.
            notes.extend(note.read(|id| {
                let branch = branches.iter().find(|branch| branch.id == id)?;
                Some(branch.name.clone())
            }));
        }
        note::sort(&mut notes);
        Ok(notes)
    }

    fn snapshots(&self) -> Option<&Snapshots> {
        self.snapshots.as_ref()
    }

    fn hold_matches(&self) -> Option<RwLockReadGuard<'_, ()>> {
        Some(hold(&self.matches))
    }

    fn hold_branches(&self) -> Option<RwLockReadGuard<'_, ()>> {
        Some(hold(&self.branches))
    }

    fn at_one_moment(&self, read: ReadAtOneMoment<'_>) -> Result<(), RescueError> {
        let _branches = hold(&self.walks);
        read(self)
    }

    fn auditable(
        &self,
        found_match: &FoundMatch,
    ) -> Result<(Vec<Auditable>, Option<StoreError>), StoreError> {
        let (stored, missing) = match self.stored_branches(&found_match.name) {
            Ok((_, stored)) => (stored, None),
            Err(error) => (self.readable_branches(found_match).collect::<Result<_, _>>()?, Some(error)),
        };
        let mut auditable = Vec::with_capacity(stored.len());
        for stored in stored {
            let branch = stored.read(found_match).and_then(|found| self.branch(found_match, found));
            auditable.push((stored.name, branch));
        }
        Ok((auditable, missing))
    }

    fn audit_kept(&self, branch: &Branch, mut keys: KeyedEntries) -> Result<Vec<DamagedRecord>, StoreError> {
        let Branch { found, head, .. } = branch;
        let mut damage = Vec::new();
        for (key, value) in self.scan_all(key::idempotency_of(found.id))? {
            let Some(text) = key::name_after::<IdempotencyKey>(&key, key::ID_PREFIX) else {
                return Err(StoreError::damaged("an idempotency key has no proper name"));
            };
            let expected = keys.remove(&text).map(|(first, last)| IdempotencyRecord { first, last });
            let indexed = record::read::<IdempotencyRecord>("an idempotency key", &key, &value);
            let seq = expected.map(|expected| expected.first);
            let reason = match indexed {
                Ok(indexed) if Some(indexed) == expected => continue,
                // The entry may have been appended after the head was read.
                Ok(indexed) if expected.is_none() && indexed.first > head.seq => continue,
                Ok(_) => {
                    format!("the idempotency key `{text}` stands for other entries than those that carry it")
                }
                Err(error) => format!("the idempotency key `{text}`: {error}"),
            };
            damage.push((seq, reason));
        }
        for (text, (first, _)) in keys {
            damage.push((Some(first), format!("the idempotency key `{text}` is missing")));
        }
        // Finds entries behind the head, which remain if a head was set back.
        if let Some(stored) = self.page_at(found.id, 0, Seq::MAX - 1)? {
            let last = stored.next(&stored.read()?) - 1;
            // Another caller may have appended since the head was read, so this counts only if it is still the same.
            if last > head.seq && self.head(found).is_ok_and(|now| now == *head) {
                damage.push((Some(last), format!("it lies behind the head, which is {}", head.seq)));
            }
        }
        Ok(damage)
    }

    fn check(&self, observe: &mut dyn FnMut(Totals)) -> Result<StoreCheck, StoreError> {
        match self.indexed()? {
            Some(indexed) => check(&indexed, observe),
            None => check(self, observe),
        }
    }

    fn prove(&self) -> Result<(), StoreError> {
        let Some(journal) = self.backend.journal() else { return Ok(()) };
        swap::read_unswapped(swap::dir_of(journal), |places| match prove(&places.journal) {
            Ok(()) => Ok(()),
            Err(error) => Err(locate(&places.journal, error)),
        })
    }

    fn stats(&self, top: usize, observe: &mut dyn FnMut(Totals)) -> Result<StoreStats, StoreError> {
        match self.indexed()? {
            Some(indexed) => indexed.count(top, observe),
            None => self.count(top, observe),
        }
    }
}

fn match_info(records: &Records, found_match: &FoundMatch) -> Result<MatchInfo, StoreError> {
    let main = records.find_branch(found_match, &BranchName::main())?;
    let Branch { found_match, head, .. } = records.branch(found_match, main)?;
    Ok(MatchInfo {
        genesis: found_match.genesis()?,
        head: head.seq,
        branches: found_match.branches,
        name: found_match.name,
    })
}
