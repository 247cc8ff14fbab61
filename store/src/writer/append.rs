//! Appending: numbered entries, an expected head, and keys that make repeating harmless.

use std::ops::RangeInclusive;

use super::store::Store;
use crate::engine::Append;
use crate::entry::{NewEntries, NewEntry, Seq};
use crate::error::StoreError;
use crate::names::{BranchName, IdempotencyKey, MatchName};
use crate::reader::branch::{BranchHead, NamedBranch};
use crate::reader::store_report::Appended;

/// The next entry of a branch, reserved for this process until it appends there or this is dropped.
#[must_use]
pub struct Reservation(#[expect(dead_code, reason = "it is dropped")] Box<dyn Send + Sync>);

impl Store {
    /// Appends entries to a branch, all or none; when it returns they are durable.
    ///
    /// With an idempotency key that an earlier append of the same commands by the same seats to this branch had,
    /// nothing is appended and the earlier one's result is returned again, wherever the head is now. These keys belong
    /// to the branch they were used on: a branch that begins on it does not inherit them.
    ///
    /// # Errors
    /// [`StoreError::Conflict`] when the head is not `expected_head`; [`StoreError::IdempotencyKeyReused`] when the idempotency key
    /// was used for something else; [`StoreError::NothingToAppend`] and
    /// [`StoreError::TooLarge`] for unusable entries; [`StoreError::NoSuchMatch`], [`StoreError::NoSuchBranch`];
    /// [`StoreError::Full`] and [`StoreError::Failed`] when it cannot be made durable.
    pub fn append(
        &self,
        match_name: &MatchName,
        branch: &BranchName,
        expected_head: Seq,
        entries: Vec<NewEntry>,
        idempotency_key: Option<&IdempotencyKey>,
    ) -> Result<Appended, StoreError> {
        self.append_judged(match_name, branch, expected_head, entries.into(), idempotency_key)
    }

    /// Appends as [`append`](Self::append) does. If a module judged the entries and the match is played by none yet, it is
    /// recorded for the match, all or nothing with them (MD-9).
    ///
    /// # Errors
    /// Every error of [`append`](Self::append), and [`StoreError::OtherModule`] where the match is played by another module.
    pub fn append_judged(
        &self,
        match_name: &MatchName,
        branch: &BranchName,
        expected_head: Seq,
        entries: NewEntries,
        idempotency_key: Option<&IdempotencyKey>,
    ) -> Result<Appended, StoreError> {
        self.engine.append(usable((match_name, branch, expected_head, entries), idempotency_key)?)
    }

    /// Appends as [`append_judged`](Self::append_judged) does, but only to the very branch that was found, not to another
    /// that got its name, and without waiting: `then` is called with what `append` would return, once the entries are durable
    /// or will not be. For another branch that is [`StoreError::NoSuchBranch`].
    ///
    /// It may be called on the thread that writes, so it must do little. If that thread dies it is dropped instead.
    ///
    /// # Errors
    /// Every error of [`append_judged`](Self::append_judged) that is known at once; `then` is not called.
    pub fn append_then(
        &self,
        match_name: &MatchName,
        branch: &BranchName,
        expected: BranchHead,
        entries: impl Into<NewEntries>,
        idempotency_key: Option<&IdempotencyKey>,
        then: impl FnOnce(Result<Appended, StoreError>) + Send + 'static,
    ) -> Result<(), StoreError> {
        let append = usable((match_name, branch, expected.seq, entries.into()), idempotency_key)?;
        let append = Append { expected_id: Some(expected.id), ..append };
        self.engine.append_then(append, Box::new(then));
        Ok(())
    }

    /// Reserves the next entry of a branch after a [`StoreError::Conflict`] with another process, so that it is this process's
    /// turn: the others wait until it appends there or drops the reservation, and for half a second at most. What is appended
    /// must have been judged at the head that is read after this returns.
    ///
    /// Returns `None` where no other process can write, where the branch is gone, when the others do not let go of it for five
    /// seconds, and when half of the connections that read are in use for reservations.
    pub fn reserve(&self, named: &NamedBranch) -> Option<Reservation> {
        self.engine.reserve(named).map(Reservation)
    }

    /// Returns the entries that an append with this idempotency key brought to the branch.
    ///
    /// # Errors
    /// [`StoreError::NoSuchMatch`], [`StoreError::NoSuchBranch`], and every error of reading.
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

/// Refuses entries that cannot be used.
fn usable(
    (match_name, branch, expected_head, entries): (&MatchName, &BranchName, Seq, NewEntries),
    idempotency_key: Option<&IdempotencyKey>,
) -> Result<Append, StoreError> {
    let match_name = match_name.clone();
    let branch = branch.clone();
    let NewEntries { entries, module } = entries;
    if entries.is_empty() {
        return Err(StoreError::NothingToAppend { match_name, branch });
    }
    entries.check_sizes()?;
    let idempotency_key = idempotency_key.cloned();
    Ok(Append { match_name, branch, expected_id: None, expected_head, entries, module, idempotency_key })
}
