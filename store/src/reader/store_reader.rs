//! The store as it is read: opening, its audit, its grants.

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
use crate::local::reader::open_records::open;
use crate::names::{GrantLabel, MatchName};
use crate::note::Note;

/// A store of matches, as far as it is read: there is nothing by which it could be changed.
///
/// Opened by itself it writes nothing at all in the store's directory, whatever is wrong there. Many may be open at a
/// time, but none while a [`Store`](crate::Store) is open.
#[derive(Clone)]
pub struct StoreReader {
    pub(crate) engine: Arc<dyn EngineReader>,
}

impl StoreReader {
    /// Opens an existing store for reading only.
    ///
    /// # Errors
    /// As for [`Store::open`](crate::Store::open).
    pub fn open(dir: &Path) -> Result<Self, StoreError> {
        Ok(Self { engine: Arc::new(open(dir).map_err(StoreError::unopened)?) })
    }

    /// Audits everything stored, but asks no rules: every record, the numbering and chain of every branch, the index
    /// of idempotency keys, every grant, how many matches, branches and entries there are, and that no record belongs to
    /// nothing.
    ///
    /// On disk every commit of the journal is read too, and what is kept of them is compared. `observe` receives the
    /// progress.
    ///
    /// # Errors
    /// Trouble with reading that is not damage; damage is listed.
    pub fn check(&self, observe: &mut dyn FnMut(Totals)) -> Result<StoreCheck, StoreError> {
        // If something were deleted in between, its records would seem to be missing or to belong to nothing.
        let _matches = self.engine.hold_matches();
        let _branches = self.engine.hold_branches();
        self.engine.check(observe)
    }

    /// Reads every commit of the journal, and returns what is damaged there: a sound index hides it from all who read
    /// through that. A database has nothing of that kind.
    ///
    /// # Errors
    /// Trouble with reading that is not damage.
    pub fn hidden_damage(&self) -> Result<Option<Damage>, StoreError> {
        match self.engine.prove() {
            Ok(()) => Ok(None),
            Err(StoreError::Corrupt { match_name, branch, seq, reason }) => {
                Ok(Some(Damage { match_name, branch, seq, reason }))
            }
            Err(error) => Err(error),
        }
    }

    /// Counts what is stored, one match after another, and returns the `top` largest matches.
    ///
    /// # Errors
    /// Any error of reading; entries are counted but their chain is not checked.
    pub fn stats(&self, top: usize, observe: &mut dyn FnMut(Totals)) -> Result<StoreStats, StoreError> {
        let _matches = self.engine.hold_matches();
        let _branches = self.engine.hold_branches();
        self.engine.stats(top, observe)
    }

    /// Finds the grant of a token by the token's hash, whether or not it still counts.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] when it cannot be read.
    pub fn find_grant(&self, hash: &Digest) -> Result<Option<Grant>, StoreError> {
        self.engine.find_grant(hash)
    }

    /// Lists the grants of a match by their hashes, also those that count no more.
    ///
    /// # Errors
    /// [`StoreError::NoSuchMatch`], and [`StoreError::Corrupt`] when one cannot be read.
    pub fn grants_of(&self, match_name: &MatchName) -> Result<Vec<(Digest, Grant)>, StoreError> {
        self.engine.grants_of(match_name)
    }

    /// Returns `true` if a player's seat has a live grant or an invitation that was not spent, so that a player has it
    /// or may yet.
    ///
    /// # Errors
    /// As for [`grants_of`](StoreReader::grants_of).
    pub fn is_taken(&self, match_name: &MatchName, seat: Seat, now_ms: i64) -> Result<bool, StoreError> {
        self.engine.is_taken(match_name, seat, now_ms)
    }

    /// Returns `true` if a player's seat has a live grant, so that no one else can join there.
    ///
    /// # Errors
    /// As for [`grants_of`](StoreReader::grants_of).
    pub fn is_played(&self, match_name: &MatchName, seat: Seat, now_ms: i64) -> Result<bool, StoreError> {
        self.engine.is_played(match_name, seat, now_ms)
    }

    /// Returns what the players of a match are called who joined under a name and still have their seats.
    ///
    /// # Errors
    /// As for [`grants_of`](StoreReader::grants_of).
    pub fn names_of(
        &self,
        match_name: &MatchName,
        now_ms: i64,
    ) -> Result<BTreeMap<Seat, GrantLabel>, StoreError> {
        self.engine.names_of(match_name, now_ms)
    }

    /// Returns the notes of a match as they were written, whoever may read them (SV-61). Those about entries of a branch that
    /// was deleted are gone.
    ///
    /// # Errors
    /// [`StoreError::NoSuchMatch`], and [`StoreError::Corrupt`] when one cannot be read.
    pub fn notes_of(&self, match_name: &MatchName) -> Result<Vec<Note>, StoreError> {
        self.engine.notes_of(match_name)
    }
}

impl fmt::Debug for StoreReader {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("StoreReader").finish_non_exhaustive()
    }
}
