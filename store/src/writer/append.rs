//! Appends entries at an expected head. Idempotency keys make it safe to repeat an append.

use std::ops::RangeInclusive;

use super::store::Store;
use crate::engine::Append;
use crate::entry::{NewEntries, Seq};
use crate::error::StoreError;
use crate::names::{BranchName, IdempotencyKey, MatchName};
use crate::reader::branch::{BranchHead, NamedBranch};
use crate::reader::store_report::Appended;

/// The next entry of a branch, reserved for this process until it appends that entry or drops this value.
#[must_use]
pub struct Reservation(#[expect(dead_code, reason = "it is dropped")] Box<dyn Send + Sync>);

impl Store {
    /// Appends entries to a branch, all or none. When it returns, they are durable.
    ///
    /// If an earlier append to this branch had the same idempotency key, seats and commands, nothing is appended. It
    /// then returns the earlier result, wherever the head is now. A key belongs to the branch that it was used on;
    /// child branches do not inherit it. If a module judged the entries and none is recorded for the match, the module is
    /// recorded, too, in one commit with the entries (MD-9).
    ///
    /// # Errors
    /// Returns [`StoreError::Conflict`] if the head is not `expected_head`; [`StoreError::IdempotencyKeyReused`] if the
    /// key was used for other commands; [`StoreError::OtherModule`] if the match is played by another module;
    /// [`StoreError::NothingToAppend`] or [`StoreError::TooLarge`] for unusable entries; [`StoreError::NoSuchMatch`] or
    /// [`StoreError::NoSuchBranch`]; [`StoreError::Full`], [`StoreError::Failed`] or [`StoreError::Unsettled`] if the
    /// entries cannot be made durable; or any error of reading.
    pub fn append(
        &self,
        match_name: &MatchName,
        branch: &BranchName,
        expected_head: Seq,
        entries: impl Into<NewEntries>,
        idempotency_key: Option<&IdempotencyKey>,
    ) -> Result<Appended, StoreError> {
        let append = usable(match_name, branch, expected_head, entries.into(), idempotency_key)?;
        self.engine.append(append)
    }

    /// Appends like [`append`](Self::append), but without waiting, and only if the name still belongs to the branch with
    /// the expected id. It calls `then` with the result once the entries are durable or have failed. For another branch
    /// that result is [`StoreError::NoSuchBranch`].
    ///
    /// `then` may run on the thread that writes, so it must be quick. If that thread dies, `then` is dropped.
    ///
    /// # Errors
    /// Returns the errors of [`append`](Self::append) that are known at once. It then does not call `then`.
    pub fn append_then(
        &self,
        match_name: &MatchName,
        branch: &BranchName,
        expected: BranchHead,
        entries: impl Into<NewEntries>,
        idempotency_key: Option<&IdempotencyKey>,
        then: impl FnOnce(Result<Appended, StoreError>) + Send + 'static,
    ) -> Result<(), StoreError> {
        let append = usable(match_name, branch, expected.seq, entries.into(), idempotency_key)?;
        let append = Append { expected_id: Some(expected.id), ..append };
        self.engine.append_then(append, Box::new(then));
        Ok(())
    }

    /// Reserves the next entry of a branch, after a [`StoreError::Conflict`] with another process. The other processes
    /// wait until this one appends there or drops the reservation, for half a second at most. The caller must read the
    /// head after this returns, and judge its entries there.
    ///
    /// Returns `None` if no other process can write, or if the branch was deleted. It also returns `None` if others
    /// keep the branch for five seconds, or if half of the reading connections are in use for reservations.
    pub fn reserve(&self, named: &NamedBranch) -> Option<Reservation> {
        self.engine.reserve(named).map(Reservation)
    }

    /// Returns the range of entries that an append with this idempotency key appended to the branch; `None` if the key
    /// is unknown.
    ///
    /// # Errors
    /// Returns [`StoreError::NoSuchMatch`], [`StoreError::NoSuchBranch`], or any error of reading.
    pub fn find_idempotency_key(
        &self,
        match_name: &MatchName,
        branch: &BranchName,
        idempotency_key: &IdempotencyKey,
    ) -> Result<Option<RangeInclusive<Seq>>, StoreError> {
        let branch = self.engine().found_branch(match_name, branch)?;
        self.engine().find_key(&branch, idempotency_key)
    }
}

fn usable(
    match_name: &MatchName,
    branch: &BranchName,
    expected_head: Seq,
    NewEntries { entries, module }: NewEntries,
    idempotency_key: Option<&IdempotencyKey>,
) -> Result<Append, StoreError> {
    let match_name = match_name.clone();
    let branch = branch.clone();
    if entries.is_empty() {
        return Err(StoreError::NothingToAppend { match_name, branch });
    }
    entries.check_sizes()?;
    let idempotency_key = idempotency_key.cloned();
    Ok(Append { match_name, branch, expected_id: None, expected_head, entries, module, idempotency_key })
}
