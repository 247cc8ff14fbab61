//! The store: opening and closing it, and its matches, branches, grants and notes.

use std::fmt;
use std::ops::Deref;
use std::path::Path;

use turnfold_core::Digest;

use crate::engine::{Engine, EngineReader, NewBranch, NewMatch};
use crate::entry::{NewEntries, NewEntry, PackedEntries, Seq, check_size};
use crate::error::StoreError;
use crate::genesis::{GENESIS_BYTES_MAX, Genesis};
use crate::grant::{GrantId, JoinedSeat, NewGrant};
use crate::granting::Joining;
#[cfg(feature = "testing")]
use crate::local::backend::Backend;
use crate::local::open::in_memory;
#[cfg(feature = "testing")]
use crate::local::open::open_backend;
use crate::names::{BranchName, MatchName, PlayerName};
use crate::note::{Note, NoteId};
use crate::reader::store_reader::StoreReader;
use crate::snapshots::{Snapshot, has_snapshot};
use crate::writer::options::StoreOptions;

/// A store of matches, with an append-only log for every branch of a match.
///
/// It dereferences to the [`StoreReader`] that it reads with. Threads can share it. A store has one handle. Dropping
/// the handle closes the store and only logs errors; [`close`](Store::close) returns them.
pub struct Store {
    // The first field, so that the engine is dropped before the reader.
    pub(super) engine: Box<dyn Engine>,
    reader: StoreReader,
}

impl Store {
    /// Opens an existing store for writing.
    ///
    /// # Errors
    /// As for [`StoreOptions::open`].
    pub fn open(dir: &Path) -> Result<Self, StoreError> {
        StoreOptions::new().open(dir)
    }

    /// Opens a store. If `dir` is missing or empty, it creates the store first.
    ///
    /// # Errors
    /// As for [`StoreOptions::open`].
    pub fn open_or_create(dir: &Path) -> Result<Self, StoreError> {
        StoreOptions::new().create().open(dir)
    }

    /// Creates an empty store in memory.
    ///
    /// # Panics
    /// Never: memory does not fail.
    #[must_use]
    pub fn in_memory() -> Self {
        Self::of(in_memory())
    }

    /// Opens the store in a backend. If the backend is empty, it creates the store first.
    ///
    /// # Errors
    /// Returns any error of the backend, or [`StoreError::Corrupt`].
    #[cfg(feature = "testing")]
    pub fn with_backend(backend: Box<dyn Backend>) -> Result<Self, StoreError> {
        open_backend(backend).map(Self::of)
    }

    pub(crate) fn of(engine: impl Engine + 'static) -> Self {
        let reader = StoreReader { engine: engine.reader() };
        Self { engine: Box::new(engine), reader }
    }

    /// Creates a match with its first entries, all or nothing. `genesis.played_by` is the module that judged them. It
    /// is recorded, unless there are no entries or the match pins a module (MD-9).
    ///
    /// # Errors
    /// Returns [`StoreError::AlreadyExists`], [`StoreError::TooLarge`], or any error of writing.
    pub fn create_match(
        &self,
        name: &MatchName,
        genesis: &Genesis,
        entries: Vec<NewEntry>,
    ) -> Result<(), StoreError> {
        self.create_long_match(name, genesis, entries.into())
    }

    /// Creates a match like [`create_match`](Self::create_match), with any number of first entries.
    ///
    /// # Errors
    /// Returns the errors of [`create_match`](Self::create_match).
    pub fn create_long_match(
        &self,
        name: &MatchName,
        genesis: &Genesis,
        entries: PackedEntries,
    ) -> Result<(), StoreError> {
        entries.check_sizes()?;
        self.create(NewMatch::of(name, genesis, entries))
    }

    pub(super) fn create(&self, new: NewMatch) -> Result<(), StoreError> {
        check_size("a genesis", new.genesis.len(), GENESIS_BYTES_MAX)?;
        let has_entries =
            new.branches.iter().flat_map(|branch| &branch.batches).any(|batch| !batch.entries.is_empty());
        let module = new.module.filter(|_| has_entries);
        self.engine.create_match(NewMatch { module, ..new })
    }

    /// Creates a branch that begins after entry `at` of another one, 0 for the setup, with its first own entries, all or
    /// nothing. They are numbered from `at + 1` and have no idempotency key.
    ///
    /// # Errors
    /// Returns [`StoreError::BranchExists`], [`StoreError::NoSuchMatch`], [`StoreError::NoSuchBranch`],
    /// [`StoreError::NoSuchSeq`] if `from` is shorter, [`StoreError::OtherModule`], [`StoreError::TooLarge`], or any error
    /// of writing.
    pub fn create_branch(
        &self,
        match_name: &MatchName,
        name: &BranchName,
        from: &BranchName,
        at: Seq,
        entries: impl Into<NewEntries>,
    ) -> Result<(), StoreError> {
        let NewEntries { entries, module } = entries.into();
        entries.check_sizes()?;
        let match_name = match_name.clone();
        let name = name.clone();
        let from = from.clone();
        let module = module.filter(|_| !entries.is_empty());
        self.engine.create_branch(NewBranch { match_name, name, from, at }, NewEntries { entries, module })
    }

    /// Renames a match. It waits for a running backup to end.
    ///
    /// Later appends under the old name return [`StoreError::NoSuchMatch`].
    ///
    /// # Errors
    /// Returns [`StoreError::NoSuchMatch`], [`StoreError::AlreadyExists`] if a match has the new name, or any error of
    /// writing.
    pub fn rename_match(&self, name: &MatchName, new: &MatchName) -> Result<(), StoreError> {
        self.rename_matches(&[(name.clone(), new.clone())])
    }

    /// Renames matches like [`rename_match`](Self::rename_match), from the first name of each pair to the second, all
    /// or none. A new name must not be in use, not even by a match that is also renamed.
    ///
    /// # Errors
    /// Returns the errors of [`rename_match`](Self::rename_match), for the first match that cannot be renamed.
    pub fn rename_matches(&self, names: &[(MatchName, MatchName)]) -> Result<(), StoreError> {
        self.engine.rename_matches(names)
    }

    /// Renames a branch, even if other branches begin on it. It waits until a running backup has finished its current
    /// match.
    ///
    /// # Errors
    /// Returns [`StoreError::MainBranch`] for `main`, [`StoreError::NoSuchMatch`], [`StoreError::NoSuchBranch`],
    /// [`StoreError::BranchExists`] if a branch of the match has the new name, or any error of writing.
    pub fn rename_branch(
        &self,
        match_name: &MatchName,
        name: &BranchName,
        new: &BranchName,
    ) -> Result<(), StoreError> {
        if name.is_main() {
            return Err(StoreError::MainBranch { match_name: match_name.clone(), action: "renamed" });
        }
        self.engine.rename_branch(match_name, name, new)
    }

    /// Deletes a branch and its own entries. It waits until a running backup has finished its current match.
    ///
    /// # Errors
    /// Returns [`StoreError::MainBranch`] for `main`, [`StoreError::BranchInUse`] if a branch begins on it,
    /// [`StoreError::NoSuchMatch`], [`StoreError::NoSuchBranch`], or any error of writing.
    pub fn delete_branch(&self, match_name: &MatchName, name: &BranchName) -> Result<(), StoreError> {
        if name.is_main() {
            return Err(StoreError::MainBranch { match_name: match_name.clone(), action: "deleted" });
        }
        self.engine.delete_branch(match_name, name)
    }

    /// Deletes a match with all its branches, entries and grants, all or nothing. It waits for a running backup to end.
    ///
    /// Later appends to the match return [`StoreError::NoSuchMatch`].
    ///
    /// # Errors
    /// Returns [`StoreError::NoSuchMatch`], or any error of reading and writing.
    pub fn delete_match(&self, name: &MatchName) -> Result<(), StoreError> {
        self.delete_matches(std::slice::from_ref(name))
    }

    /// Deletes matches like [`delete_match`](Self::delete_match), all or none.
    ///
    /// # Errors
    /// Returns the errors of [`delete_match`](Self::delete_match), for the first match that cannot be deleted.
    pub fn delete_matches(&self, names: &[MatchName]) -> Result<(), StoreError> {
        self.engine.delete_matches(names)
    }

    /// Makes a grant for the token with this hash. When it returns, the grant is durable.
    ///
    /// A match may have [`Grant::LIVE_MAX`](crate::Grant::LIVE_MAX) live grants, and
    /// [`Grant::LIVE_MAX_PER_SEAT`](crate::Grant::LIVE_MAX_PER_SEAT) per seat. Unspent invitations count as live. A
    /// match keeps twice as many grants in all; beyond that, its oldest dead grants are removed.
    ///
    /// # Errors
    /// Returns [`StoreError::TooManyGrants`], [`StoreError::GrantExists`] if the hash or its first 8 bytes are in use,
    /// [`StoreError::NotAPlayer`], [`StoreError::NoSuchMatch`], or any error of reading and writing.
    pub fn grant(&self, hash: &Digest, new: NewGrant, now_ms: i64) -> Result<(), StoreError> {
        self.engine.grant(hash, new, now_ms)
    }

    /// Spends an invitation for the token of the player who accepts it. Both are given by their hashes. If it was
    /// already spent for this token, nothing changes, so a player can repeat the call after a lost response.
    ///
    /// The grant of the seat gets the player's name, or else the invitation's label, and does not expire. The first
    /// player to join has the seat: other invitations to it are refused until that grant is revoked.
    ///
    /// # Errors
    /// Returns [`StoreError::NoSuchGrant`] if there is no such invitation, or if it was revoked or has expired;
    /// [`StoreError::InvitationSpent`] if it was spent for another token; [`StoreError::SeatTaken`] if someone else
    /// plays the seat; [`StoreError::NameTaken`] if another player of the match has the same or an equivalent name;
    /// [`StoreError::TooManyGrants`]; [`StoreError::GrantExists`] if the token is in use; or any error of reading and
    /// writing.
    pub fn join(
        &self,
        invitation: &Digest,
        token: &Digest,
        name: Option<&PlayerName>,
        now_ms: i64,
    ) -> Result<JoinedSeat, StoreError> {
        self.engine.join(invitation, Joining { token, name, now_ms })
    }

    /// Revokes a grant of a match and returns the hash of its token. A grant that was revoked before does not change.
    /// The seat's grant that an invitation was spent for must be revoked separately. The last live host grant cannot be
    /// revoked.
    ///
    /// # Errors
    /// Returns [`StoreError::NoSuchGrant`] if the match has no such grant, [`StoreError::LastHost`],
    /// [`StoreError::NoSuchMatch`], or any error of reading and writing.
    pub fn revoke_grant(
        &self,
        match_name: &MatchName,
        id: GrantId,
        now_ms: i64,
    ) -> Result<Digest, StoreError> {
        self.engine.revoke_grant(match_name, id, now_ms)
    }

    /// Writes a note on a match. When it returns, the note is durable. The note may name any branch whose history has
    /// the entry. A note on entry 0 is about the match.
    ///
    /// # Errors
    /// Returns [`StoreError::TooManyNotes`], [`StoreError::NoSuchMatch`], [`StoreError::NoSuchBranch`],
    /// [`StoreError::NoSuchSeq`], or any error of reading and writing.
    pub fn write_note(&self, match_name: &MatchName, note: Note) -> Result<(), StoreError> {
        self.engine.write_note(match_name, note, false)
    }

    /// Removes a note. After a compaction, no byte of it is left.
    ///
    /// # Errors
    /// Returns [`StoreError::NoSuchNote`], [`StoreError::NoSuchMatch`], or any error of reading and writing.
    pub fn remove_note(&self, match_name: &MatchName, id: NoteId) -> Result<(), StoreError> {
        self.engine.remove_note(match_name, id)
    }

    /// Keeps the state after an entry as a snapshot, if the entry is due for one and the store keeps snapshots.
    ///
    /// # Errors
    /// Returns any error of [`entries`](crate::StoreReader::entries). A failure to write the snapshot is only logged.
    pub fn keep_snapshot(
        &self,
        match_name: &MatchName,
        branch: &BranchName,
        snapshot: &Snapshot,
        build: &Digest,
    ) -> Result<(), StoreError> {
        let seq = snapshot.seq;
        let Some(snapshots) = self.engine().snapshots().filter(|_| has_snapshot(seq)) else {
            return Ok(());
        };
        let mut entries = self.entries(match_name, branch, seq..=seq)?;
        entries.try_for_each(|entry| entry.map(|_| ()))?;
        if let Err(error) = snapshots.write(&entries.link(), snapshot, build) {
            tracing::debug!(%error, seq, "a snapshot could not be kept");
        }
        Ok(())
    }

    /// Returns how many bytes are free for this user on the file system of a store's directory; `None` on systems that
    /// can be asked only with unsafe code.
    ///
    /// # Errors
    /// Returns [`StoreError::Io`] if the system does not know.
    pub fn free_bytes(dir: &Path) -> Result<Option<u64>, StoreError> {
        #[cfg(unix)]
        {
            match rustix::fs::statvfs(dir) {
                Ok(found) => Ok(Some(found.f_bavail.saturating_mul(found.f_frsize))),
                Err(error) => Err(StoreError::io("find the free space at", dir, error.into())),
            }
        }
        #[cfg(not(unix))]
        {
            let _ = dir;
            Ok(None)
        }
    }

    /// Closes the store. On disk, the journal then records where it ends, so that missing commits at the end are
    /// noticed.
    ///
    /// # Errors
    /// Returns the error that kept the store from closing cleanly. Everything acknowledged is durable all the same.
    pub fn close(self) -> Result<(), StoreError> {
        let Self { engine, reader } = self;
        drop(reader);
        engine.close()
    }

    pub(crate) fn engine(&self) -> &dyn EngineReader {
        self.reader.engine.as_ref()
    }
}

impl Deref for Store {
    type Target = StoreReader;

    fn deref(&self) -> &StoreReader {
        &self.reader
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Store").finish_non_exhaustive()
    }
}
