//! Engines: where matches lie. Everything above asks them in these words; they know no rules, and no one else knows tables.
//!
//! The traits are not public, so only this crate has engines.

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
use crate::reader::branch::{Branch, Own};
use crate::reader::branch::{BranchId, NamedBranch};
use crate::reader::found::{FoundBranch, FoundMatch, Head};
use crate::reader::store_report::Appended;
use crate::reader::store_report::{MatchInfo, StoreCheck, StoreStats};
use crate::snapshots::Snapshots;

/// Results, one after another, that end with the first error.
pub(crate) type Each<'a, T> = Box<dyn Iterator<Item = Result<T, StoreError>> + 'a>;

/// Returns what `next` returns up to the first error.
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

/// Consecutive entries of one branch, as they lie together.
pub(crate) struct Packed<'a> {
    /// The number of the first.
    pub(crate) first: Seq,
    /// The link that is stored before the first, where one is.
    pub(crate) before: Option<Digest>,
    /// The encoded entries.
    pub(crate) records: Vec<&'a [u8]>,
    /// The link that is stored after the last, where one is.
    pub(crate) after: Option<Digest>,
}

/// The name of a branch and, if it can be read, the branch.
pub(crate) type Auditable = (BranchName, Result<Branch, StoreError>);

/// The entries that carry an idempotency key: the first and the last.
pub(crate) type KeyedEntries = BTreeMap<IdempotencyKey, (Seq, Seq)>;

/// What an audit finds wrong in records other than entries: at which entry, and what.
pub(crate) type Found = (Option<Seq>, String);

/// An engine as far as it is read (FL-4).
pub(crate) trait EngineReader: Send + Sync {
    fn found_match(&self, name: &MatchName) -> Result<FoundMatch, StoreError>;

    /// Requires, for an audit, that no match is missing; where the database itself guards its rows, that holds.
    fn require_all_matches(&self) -> Result<(), StoreError> {
        Ok(())
    }

    /// Finds a branch of a match, up to its acknowledged head.
    fn found_branch(&self, match_name: &MatchName, branch: &BranchName) -> Result<Branch, StoreError>;

    /// Returns `true` if other processes may write at the same time.
    fn is_shared(&self) -> bool {
        false
    }

    /// Returns the heads of branches, in their order; `None` for one that is gone or has another name.
    fn heads(&self, branches: &[NamedBranch]) -> Result<Vec<Option<Seq>>, StoreError> {
        let head = |named: &NamedBranch| match self.found_branch(&named.match_name, &named.branch) {
            Ok(branch) => Ok((BranchId::of(&branch) == named.id).then_some(branch.head.seq)),
            Err(StoreError::NoSuchMatch { .. } | StoreError::NoSuchBranch { .. }) => Ok(None),
            Err(error) => Err(error),
        };
        branches.iter().map(head).collect()
    }

    /// Returns all branches of a match with the heads that they have at one moment.
    fn branches(&self, name: &MatchName) -> Result<(FoundMatch, Vec<Branch>), StoreError>;

    /// Returns a branch and those it begins on, one after another.
    fn ancestry(
        &self,
        found_match: &FoundMatch,
        branch: &FoundBranch,
    ) -> Result<Vec<FoundBranch>, StoreError>;

    /// Lists the matches by name, those that come after a name or all.
    fn matches_after(&self, after: Option<&MatchName>) -> Result<Each<'_, MatchInfo>, StoreError>;

    /// Lists the names of all matches.
    fn match_names(&self) -> Result<Each<'_, MatchName>, StoreError>;

    /// Hands on entries of a branch, the first of them in or before those that are handed on first. Nothing is handed on
    /// when that entry is not there. Errors name the entry, but not the branch.
    fn pages(
        &self,
        own: Own,
        from: Seq,
        take: &mut dyn FnMut(&Packed<'_>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError>;

    /// Returns where reading has to begin so that `wanted` is reached along the chain, and the link stored before it;
    /// `before` is the one before the branch's first own entry.
    fn anchor(&self, own: Own, before: Digest, wanted: Seq) -> Result<(Seq, Digest), StoreError>;

    /// Returns the entries that an append with this idempotency key brought to the branch.
    fn find_key(
        &self,
        branch: &Branch,
        idempotency_key: &IdempotencyKey,
    ) -> Result<Option<RangeInclusive<Seq>>, StoreError>;

    fn find_grant(&self, hash: &Digest) -> Result<Option<Grant>, StoreError>;

    /// Finds the grants of tokens by the tokens' hashes, those that there are.
    fn find_grants(&self, hashes: &[Digest]) -> Result<Vec<(Digest, Grant)>, StoreError> {
        let found = |hash: &Digest| Ok(self.find_grant(hash)?.map(|grant| (*hash, grant)));
        hashes.iter().filter_map(|hash| found(hash).transpose()).collect()
    }

    /// Lists the grants of a match by their hashes.
    fn grants_of(&self, match_name: &MatchName) -> Result<Vec<(Digest, Grant)>, StoreError>;

    /// Returns `true` if a player's seat has a live grant or an invitation that was not spent.
    fn is_taken(&self, match_name: &MatchName, seat: Seat, now_ms: i64) -> Result<bool, StoreError>;

    /// Returns `true` if someone plays a seat.
    fn is_played(&self, match_name: &MatchName, seat: Seat, now_ms: i64) -> Result<bool, StoreError>;

    /// Returns what the players of a match are called.
    fn names_of(&self, match_name: &MatchName, now_ms: i64)
    -> Result<BTreeMap<Seat, GrantLabel>, StoreError>;

    /// Returns the notes of a match as they were written.
    fn notes_of(&self, match_name: &MatchName) -> Result<Vec<Note>, StoreError>;

    /// Returns the snapshots of states, if there are any.
    fn snapshots(&self) -> Option<&Snapshots> {
        None
    }

    /// Keeps all matches there and under their names, where that is needed for a sight of one moment.
    fn hold_matches(&self) -> Option<RwLockReadGuard<'_, ()>> {
        None
    }

    /// Keeps the branches of all matches there and under their names, where that is needed.
    fn hold_branches(&self) -> Option<RwLockReadGuard<'_, ()>> {
        None
    }

    /// Reads for as long as it may take while no branch of any match is deleted or renamed, as far as `read` can see.
    fn at_one_moment(&self, read: Walk<'_>) -> Result<(), RescueError>;

    /// Returns the branches of a match for an audit, and what keeps some of them from being found.
    fn auditable(&self, found_match: &FoundMatch)
    -> Result<(Vec<Auditable>, Option<StoreError>), StoreError>;

    /// Requires the other records of a branch to match its own entries.
    fn audit_kept(&self, branch: &Branch, keys: KeyedEntries) -> Result<Vec<Found>, StoreError>;

    /// Audits everything stored.
    fn check(&self, observe: &mut dyn FnMut(Totals)) -> Result<StoreCheck, StoreError>;

    /// Reads all that the rest is made from; damage there may not show in the rest.
    fn prove(&self) -> Result<(), StoreError> {
        Ok(())
    }

    /// Counts what is stored.
    fn stats(&self, top: usize, observe: &mut dyn FnMut(Totals)) -> Result<StoreStats, StoreError>;
}

pub(crate) type Walk<'a> = &'a mut dyn FnMut(&dyn EngineReader) -> Result<(), RescueError>;

/// What is called with what became of an append.
pub(crate) type Then = Box<dyn FnOnce(Result<Appended, StoreError>) + Send>;

/// Entries to be appended to a branch.
#[derive(Clone, Debug)]
pub(crate) struct Append {
    pub(crate) match_name: MatchName,
    pub(crate) branch: BranchName,
    /// Which branch it must be that has the name.
    pub(crate) expected_id: Option<BranchId>,
    pub(crate) expected_head: Seq,
    pub(crate) entries: PackedEntries,
    /// The module that judged them (MD-9).
    pub(crate) module: Option<Digest>,
    pub(crate) idempotency_key: Option<IdempotencyKey>,
}

/// A branch to be made: its name, and the branch and entry after which it begins.
#[derive(Clone, Debug)]
pub(crate) struct NewBranch {
    pub(crate) match_name: MatchName,
    pub(crate) name: BranchName,
    pub(crate) from: BranchName,
    pub(crate) at: Seq,
}

/// A match to be made with all its branches.
#[derive(Clone, Debug)]
pub(crate) struct NewMatch {
    pub(crate) name: MatchName,
    /// The encoded Genesis.
    pub(crate) genesis: Vec<u8>,
    /// The module that is recorded for it (MD-9).
    pub(crate) module: Option<Digest>,
    /// `main`, then the others, each after the one that it begins on.
    pub(crate) branches: Vec<InitialBranch>,
}

/// A branch of a match to be made.
#[derive(Clone, Debug)]
pub(crate) struct InitialBranch {
    pub(crate) name: BranchName,
    /// The branch that it begins on; `None` for `main`.
    pub(crate) from: Option<BranchName>,
    /// The entry after which it begins, and the link there.
    pub(crate) before: Head,
    pub(crate) batches: Vec<KeyedBatch>,
}

/// Entries in a row that share an idempotency key, or have none.
#[derive(Clone, Debug)]
pub(crate) struct KeyedBatch {
    pub(crate) idempotency_key: Option<IdempotencyKey>,
    pub(crate) entries: PackedEntries,
}

impl NewMatch {
    /// A match with these first entries, which carry no idempotency key.
    pub(crate) fn of(name: &MatchName, genesis: &Genesis, entries: PackedEntries) -> Self {
        let before = Head { seq: 0, link: genesis.link() };
        let batches = vec![KeyedBatch { idempotency_key: None, entries }];
        let main = InitialBranch { name: BranchName::main(), from: None, before, batches };
        let module = genesis.played_by.filter(|_| genesis.module.is_none());
        Self { name: name.clone(), genesis: genesis.encode(), module, branches: vec![main] }
    }
}

/// An engine (FL-4). What returns is durable.
pub(crate) trait Engine: Send + Sync {
    /// Returns what reads while it writes.
    fn reader(&self) -> Arc<dyn EngineReader>;

    /// Creates a match with its first entries, all or nothing.
    fn create_match(&self, new: NewMatch) -> Result<(), StoreError>;

    /// Creates a branch with its first own entries.
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

    /// Deletes matches with all that belongs to them, in one commit.
    fn delete_matches(&self, names: &[MatchName]) -> Result<(), StoreError>;

    /// Renames matches, each from the first name to the second, in one commit.
    fn rename_matches(&self, names: &[(MatchName, MatchName)]) -> Result<(), StoreError>;

    /// Appends entries, or finds that an append with the same key did.
    fn append(&self, append: Append) -> Result<Appended, StoreError>;

    /// Appends entries, and calls `then` with what became of it; an engine that can does not wait for that.
    fn append_then(&self, append: Append, then: Then) {
        then(self.append(append));
    }

    /// Reserves the next entry of a branch for this process until it appends there or drops what this returns; `None`
    /// where that is not needed, or not possible just now.
    fn reserve(&self, _: &NamedBranch) -> Option<Box<dyn Send + Sync>> {
        None
    }

    fn grant(&self, hash: &Digest, new: NewGrant, now_ms: i64) -> Result<(), StoreError>;

    fn join(&self, invitation: &Digest, joining: Joining<'_>) -> Result<JoinedSeat, StoreError>;

    fn revoke_grant(&self, match_name: &MatchName, id: GrantId, now_ms: i64) -> Result<Digest, StoreError>;

    fn write_note(&self, match_name: &MatchName, note: Note, is_moved: bool) -> Result<(), StoreError>;

    fn remove_note(&self, match_name: &MatchName, id: NoteId) -> Result<(), StoreError>;

    /// Closes it; no reader is left.
    fn close(self: Box<Self>) -> Result<(), StoreError>;
}
