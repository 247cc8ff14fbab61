//! Engines: where matches are stored. All other code uses these traits. Engines know no rules, and only engines know
//! tables.
//!
//! The traits are private, so only this crate has engines.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::{Arc, RwLockReadGuard};

use turnfold_core::{Digest, Seat};

use crate::backup::error::RescueError;
use crate::backup::part::Totals;
use crate::entry::{NewEntries, PackedEntries, Seq};
use crate::error::StoreError;
use crate::genesis::Genesis;
use crate::grant::{Grant, GrantId, JoinedSeat, NewGrant};
use crate::granting::Joining;
use crate::names::{BranchName, GrantLabel, IdempotencyKey, MatchName};
use crate::note::{Note, NoteId};
use crate::reader::branch::{Branch, BranchId, FoundBranch, FoundMatch, Head, NamedBranch, Own};
use crate::reader::store_report::Appended;
use crate::reader::store_report::{MatchInfo, StoreCheck, StoreStats};
use crate::snapshots::Snapshots;

pub(crate) type Results<'a, T> = Box<dyn Iterator<Item = Result<T, StoreError>> + 'a>;

pub(crate) fn until_error<T, E>(
    mut next: impl FnMut() -> Option<Result<T, E>>,
) -> impl Iterator<Item = Result<T, E>> {
    let mut is_ended = false;
    std::iter::from_fn(move || {
        let next = if is_ended { None } else { next() };
        is_ended = !matches!(next, Some(Ok(_)));
        next
    })
}

/// Consecutive entries of one branch that are stored together.
pub(crate) struct Packed<'a> {
    pub(crate) first: Seq,
    /// The stored link before the first entry, if there is one.
    pub(crate) before: Option<Digest>,
    /// The encoded entries.
    pub(crate) records: Vec<&'a [u8]>,
    /// The stored link after the last entry, if there is one.
    pub(crate) after: Option<Digest>,
}

pub(crate) type Auditable = (BranchName, Result<Branch, StoreError>);

/// The first and the last entry that carry each idempotency key.
pub(crate) type KeyedEntries = BTreeMap<IdempotencyKey, (Seq, Seq)>;

/// Damage to records other than entries: the entry concerned, if known, and the reason.
pub(crate) type DamagedRecord = (Option<Seq>, String);

/// The reading half of an engine (FL-4).
pub(crate) trait EngineReader: Send + Sync {
    fn found_match(&self, name: &MatchName) -> Result<FoundMatch, StoreError>;

    /// Requires, for an audit, that no match is missing. The default is for databases, which guard their own rows.
    fn require_all_matches(&self) -> Result<(), StoreError> {
        Ok(())
    }

    /// Finds a branch of a match, up to its acknowledged head.
    fn found_branch(&self, match_name: &MatchName, branch: &BranchName) -> Result<Branch, StoreError>;

    /// Returns `true` if other processes may write to the store while this one has it open.
    fn is_shared(&self) -> bool {
        false
    }

    /// Returns the head of each branch, in the order of `branches`; `None` for a branch that was deleted or renamed.
    fn heads(&self, branches: &[NamedBranch]) -> Result<Vec<Option<Seq>>, StoreError> {
        let mut heads = Vec::with_capacity(branches.len());
        for named in branches {
            heads.push(match self.found_branch(&named.match_name, &named.branch) {
                Ok(branch) if BranchId::of(&branch) == named.id => Some(branch.head.seq),
                Ok(_) | Err(StoreError::NoSuchMatch { .. } | StoreError::NoSuchBranch { .. }) => None,
                Err(error) => return Err(error),
            });
        }
        Ok(heads)
    }

    /// Returns all branches of a match, with their heads as of one moment.
    fn branches(&self, name: &MatchName) -> Result<(FoundMatch, Vec<Branch>), StoreError>;

    fn ancestry(
        &self,
        found_match: &FoundMatch,
        branch: &FoundBranch,
    ) -> Result<Vec<FoundBranch>, StoreError>;

    fn matches_after(&self, after: Option<&MatchName>) -> Result<Results<'_, MatchInfo>, StoreError>;

    fn match_names(&self) -> Result<Results<'_, MatchName>, StoreError>;

    /// Passes entries of a branch to `take`, a page at a time; the first page may begin before `from`. It may stop
    /// before the last entry. If the entry `from` is missing, it passes nothing. Errors name the entry, but not the
    /// branch.
    fn pages(
        &self,
        own: Own,
        from: Seq,
        take: &mut dyn FnMut(&Packed<'_>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError>;

    /// Returns the entry at or before `wanted` at which reading must begin so that the chain can be checked, and the
    /// link before it. `before` is the link before the branch's first own entry.
    fn anchor(&self, own: Own, before: Digest, wanted: Seq) -> Result<(Seq, Digest), StoreError>;

    fn find_key(
        &self,
        branch: &Branch,
        idempotency_key: &IdempotencyKey,
    ) -> Result<Option<RangeInclusive<Seq>>, StoreError>;

    fn find_grant(&self, hash: &Digest) -> Result<Option<Grant>, StoreError>;

    fn find_grants(&self, hashes: &[Digest]) -> Result<Vec<(Digest, Grant)>, StoreError> {
        let mut found = Vec::new();
        for hash in hashes {
            if let Some(grant) = self.find_grant(hash)? {
                found.push((*hash, grant));
            }
        }
        Ok(found)
    }

    fn grants_of(&self, match_name: &MatchName) -> Result<Vec<(Digest, Grant)>, StoreError>;

    /// Returns `true` if a player's seat has a live grant or an unspent invitation.
    fn is_taken(&self, match_name: &MatchName, seat: Seat, now_ms: i64) -> Result<bool, StoreError>;

    /// Returns `true` if a player's seat has a live grant other than an invitation.
    fn is_played(&self, match_name: &MatchName, seat: Seat, now_ms: i64) -> Result<bool, StoreError>;

    fn names_of(&self, match_name: &MatchName, now_ms: i64)
    -> Result<BTreeMap<Seat, GrantLabel>, StoreError>;

    fn notes_of(&self, match_name: &MatchName) -> Result<Vec<Note>, StoreError>;

    fn snapshots(&self) -> Option<&Snapshots> {
        None
    }

    /// Keeps all matches from being renamed or deleted while the guard lives, if the engine needs that to read as of
    /// one moment.
    fn hold_matches(&self) -> Option<RwLockReadGuard<'_, ()>> {
        None
    }

    /// Keeps all branches from being renamed or deleted while the guard lives, if the engine needs that.
    fn hold_branches(&self) -> Option<RwLockReadGuard<'_, ()>> {
        None
    }

    /// Calls `read`, which may take long. During the call, no deletion or renaming of a branch is visible to it.
    fn at_one_moment(&self, read: ReadAtOneMoment<'_>) -> Result<(), RescueError>;

    /// Returns the branches of a match for an audit, and the error if some cannot be found.
    fn auditable(&self, found_match: &FoundMatch)
    -> Result<(Vec<Auditable>, Option<StoreError>), StoreError>;

    /// Compares the other records of a branch, such as idempotency keys, with its own entries, and returns the damage.
    fn audit_kept(&self, branch: &Branch, keys: KeyedEntries) -> Result<Vec<DamagedRecord>, StoreError>;

    fn check(&self, observe: &mut dyn FnMut(Totals)) -> Result<StoreCheck, StoreError>;

    /// Reads the data that all other records are built from, such as the journal. Sound records may hide damage to it.
    fn prove(&self) -> Result<(), StoreError> {
        Ok(())
    }

    fn stats(&self, top: usize, observe: &mut dyn FnMut(Totals)) -> Result<StoreStats, StoreError>;
}

pub(crate) type ReadAtOneMoment<'a> = &'a mut dyn FnMut(&dyn EngineReader) -> Result<(), RescueError>;

pub(crate) type Then = Box<dyn FnOnce(Result<Appended, StoreError>) + Send>;

#[derive(Clone, Debug)]
pub(crate) struct Append {
    pub(crate) match_name: MatchName,
    pub(crate) branch: BranchName,
    /// The id that the branch must have; `None` for any.
    pub(crate) expected_id: Option<BranchId>,
    pub(crate) expected_head: Seq,
    pub(crate) entries: PackedEntries,
    /// The module that judged the entries (MD-9).
    pub(crate) module: Option<Digest>,
    pub(crate) idempotency_key: Option<IdempotencyKey>,
}

#[derive(Clone, Debug)]
pub(crate) struct NewBranch {
    pub(crate) match_name: MatchName,
    pub(crate) name: BranchName,
    pub(crate) from: BranchName,
    pub(crate) at: Seq,
}

#[derive(Clone, Debug)]
pub(crate) struct NewMatch {
    pub(crate) name: MatchName,
    /// The encoded Genesis.
    pub(crate) genesis: Vec<u8>,
    /// The module to record for the match (MD-9).
    pub(crate) module: Option<Digest>,
    /// `main`, then the other branches, parents first.
    pub(crate) branches: Vec<InitialBranch>,
}

#[derive(Clone, Debug)]
pub(crate) struct InitialBranch {
    pub(crate) name: BranchName,
    /// The parent branch; `None` for `main`.
    pub(crate) from: Option<BranchName>,
    /// The entry after which it begins, and the link there.
    pub(crate) before: Head,
    pub(crate) batches: Vec<KeyedBatch>,
}

/// Consecutive entries with the same idempotency key, or without one.
#[derive(Clone, Debug)]
pub(crate) struct KeyedBatch {
    pub(crate) idempotency_key: Option<IdempotencyKey>,
    pub(crate) entries: PackedEntries,
}

impl NewMatch {
    /// Returns a match with these first entries on `main`, without idempotency keys.
    pub(crate) fn of(name: &MatchName, genesis: &Genesis, entries: PackedEntries) -> Self {
        let before = Head { seq: 0, link: genesis.link() };
        let batches = vec![KeyedBatch { idempotency_key: None, entries }];
        let main = InitialBranch { name: BranchName::main(), from: None, before, batches };
        let module = genesis.played_by.filter(|_| genesis.module.is_none());
        Self { name: name.clone(), genesis: genesis.encode(), module, branches: vec![main] }
    }
}

/// An engine (FL-4). When a method returns, its change is durable.
pub(crate) trait Engine: Send + Sync {
    fn reader(&self) -> Arc<dyn EngineReader>;

    fn create_match(&self, new: NewMatch) -> Result<(), StoreError>;

    fn create_branch(&self, new: NewBranch, entries: NewEntries) -> Result<(), StoreError>;

    /// Deletes a branch that is not `main`.
    fn delete_branch(&self, match_name: &MatchName, name: &BranchName) -> Result<(), StoreError>;

    /// Renames a branch that is not `main`.
    fn rename_branch(
        &self,
        match_name: &MatchName,
        name: &BranchName,
        new: &BranchName,
    ) -> Result<(), StoreError>;

    /// Deletes matches with everything that belongs to them, in one commit.
    fn delete_matches(&self, names: &[MatchName]) -> Result<(), StoreError>;

    /// Renames matches, from the first name of each pair to the second, in one commit.
    fn rename_matches(&self, names: &[(MatchName, MatchName)]) -> Result<(), StoreError>;

    /// Appends entries, or returns the result of an earlier append with the same key.
    fn append(&self, append: Append) -> Result<Appended, StoreError>;

    /// Appends entries, and calls `then` with the result. An engine may return before that.
    fn append_then(&self, append: Append, then: Then) {
        then(self.append(append));
    }

    /// Reserves the next entry of a branch for this process until it appends there or drops the returned value; `None`
    /// if that is not necessary, or not possible now.
    fn reserve(&self, _: &NamedBranch) -> Option<Box<dyn Send + Sync>> {
        None
    }

    fn grant(&self, hash: &Digest, new: NewGrant, now_ms: i64) -> Result<(), StoreError>;

    fn join(&self, invitation: &Digest, joining: Joining<'_>) -> Result<JoinedSeat, StoreError>;

    fn revoke_grant(&self, match_name: &MatchName, id: GrantId, now_ms: i64) -> Result<Digest, StoreError>;

    fn write_note(&self, match_name: &MatchName, note: Note, is_moved: bool) -> Result<(), StoreError>;

    fn remove_note(&self, match_name: &MatchName, id: NoteId) -> Result<(), StoreError>;

    /// Closes the engine. The caller must have dropped all readers.
    fn close(self: Box<Self>) -> Result<(), StoreError>;
}
