//! Grants: found by the hash of their token, or by their match.

use turnfold_core::{Digest, Seat};

use super::store_reader::StoreReader;
use crate::error::StoreError;
use crate::grant::Grant;
use crate::names::MatchName;

impl StoreReader {
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
}
