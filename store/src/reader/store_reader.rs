//! A store open for reading: opening, the audit and grants.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use turnfold_core::{Digest, Seat};

use super::store_report::{Damage, StoreCheck, StoreStats};
use crate::backup::part::Totals;
use crate::engine::EngineReader;
use crate::error::StoreError;
use crate::grant::Grant;
use crate::local::open::open_for_reading;
use crate::names::{GrantLabel, MatchName};
use crate::note::Note;

/// A store of matches, open for reading. It has no method that changes the store.
///
/// A reader that [`open`](StoreReader::open) opens never changes the journal (ST-5). A small journal is read into memory
/// (ST-23). Otherwise, if the locks are free and the store was closed cleanly, the reader holds them and uses the index,
/// and no [`Store`](crate::Store) can be opened before the reader is dropped. In all other cases, for example next to a
/// writer, it reads the journal into memory (ST-16).
#[derive(Clone)]
pub struct StoreReader {
    pub(crate) engine: Arc<dyn EngineReader>,
}

impl StoreReader {
    /// Opens an existing store for reading only.
    ///
    /// # Errors
    /// Returns the errors of [`Store::open`](crate::Store::open).
    pub fn open(dir: &Path) -> Result<Self, StoreError> {
        Ok(Self { engine: Arc::new(open_for_reading(dir).map_err(StoreError::unopened)?) })
    }

    /// Audits everything stored, without rules: every record, the numbering and chain of every branch, idempotency keys
    /// and grants. It also requires the right number of matches, branches and entries, and no record without an owner.
    ///
    /// On disk it reads every commit of the journal too, and compares the index with it. `observe` receives the
    /// progress.
    ///
    /// # Errors
    /// Returns errors of reading other than damage. Damage is listed in the result.
    pub fn check(&self, observe: &mut dyn FnMut(Totals)) -> Result<StoreCheck, StoreError> {
        // Records that are deleted during the audit would look missing or without an owner.
        let _matches = self.engine.hold_matches();
        let _branches = self.engine.hold_branches();
        self.engine.check(observe)
    }

    /// Reads every commit of the journal and returns the first damage. Readers do not notice that damage while they use
    /// a sound index. A store in a database has no journal.
    ///
    /// # Errors
    /// Returns errors of reading other than damage.
    pub fn hidden_damage(&self) -> Result<Option<Damage>, StoreError> {
        match self.engine.prove() {
            Ok(()) => Ok(None),
            Err(StoreError::Corrupt { match_name, branch, seq, reason }) => {
                Ok(Some(Damage { match_name, branch, seq, reason }))
            }
            Err(error) => Err(error),
        }
    }

    /// Counts what is stored in each match, and returns the `top` largest matches.
    ///
    /// # Errors
    /// Returns any error of reading. Entries are counted without checking the chain.
    pub fn stats(&self, top: usize, observe: &mut dyn FnMut(Totals)) -> Result<StoreStats, StoreError> {
        let _matches = self.engine.hold_matches();
        let _branches = self.engine.hold_branches();
        self.engine.stats(top, observe)
    }

    /// Finds the grant of a token by the token's hash, even if the grant is revoked, spent or expired.
    ///
    /// # Errors
    /// Returns [`StoreError::Corrupt`] if the grant cannot be read.
    pub fn find_grant(&self, hash: &Digest) -> Result<Option<Grant>, StoreError> {
        self.engine.find_grant(hash)
    }

    /// Lists the grants of a match with their hashes, including revoked, spent and expired ones.
    ///
    /// # Errors
    /// Returns [`StoreError::NoSuchMatch`], or [`StoreError::Corrupt`] if a grant cannot be read.
    pub fn grants_of(&self, match_name: &MatchName) -> Result<Vec<(Digest, Grant)>, StoreError> {
        self.engine.grants_of(match_name)
    }

    /// Returns `true` if a player's seat has a live grant or an unspent invitation, so that it is or may yet be played.
    ///
    /// # Errors
    /// Returns the errors of [`grants_of`](StoreReader::grants_of).
    pub fn is_taken(&self, match_name: &MatchName, seat: Seat, now_ms: i64) -> Result<bool, StoreError> {
        self.engine.is_taken(match_name, seat, now_ms)
    }

    /// Returns `true` if a player's seat has a live grant, so that no one else can join there.
    ///
    /// # Errors
    /// Returns the errors of [`grants_of`](StoreReader::grants_of).
    pub fn is_played(&self, match_name: &MatchName, seat: Seat, now_ms: i64) -> Result<bool, StoreError> {
        self.engine.is_played(match_name, seat, now_ms)
    }

    /// Returns the names of the players of a match who joined under a name and still have their seats.
    ///
    /// # Errors
    /// Returns the errors of [`grants_of`](StoreReader::grants_of).
    pub fn names_of(
        &self,
        match_name: &MatchName,
        now_ms: i64,
    ) -> Result<BTreeMap<Seat, GrantLabel>, StoreError> {
        self.engine.names_of(match_name, now_ms)
    }

    /// Returns all notes on a match in the order of writing, private ones included (SV-61). Deleting a branch deletes
    /// the notes on its entries.
    ///
    /// # Errors
    /// Returns [`StoreError::NoSuchMatch`], or [`StoreError::Corrupt`] if a note cannot be read.
    pub fn notes_of(&self, match_name: &MatchName) -> Result<Vec<Note>, StoreError> {
        self.engine.notes_of(match_name)
    }
}

impl fmt::Debug for StoreReader {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("StoreReader").finish_non_exhaustive()
    }
}
