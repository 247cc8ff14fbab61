//! Grants: found by the hash of their token, or as those of a match.

use turnfold_core::{Digest, Seat};

use super::found::FoundMatch;
use super::records::Records;
use super::store_reader::StoreReader;
use crate::error::StoreError;
use crate::grant::{Grant, GrantId};
use crate::layout::record::{GrantRecord, MatchGrantRecord};
use crate::layout::{key, record};
use crate::names::MatchName;

impl StoreReader {
    /// Finds the grant of a token by the token's hash, whether or not it still counts.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] when it cannot be read.
    pub fn find_grant(&self, hash: &Digest) -> Result<Option<Grant>, StoreError> {
        Ok(self.records.find_grant(hash)?.map(|record| record.grant))
    }

    /// Lists the grants of a match by their hashes, also those that count no more.
    ///
    /// # Errors
    /// [`StoreError::NoSuchMatch`], and [`StoreError::Corrupt`] when one cannot be read.
    pub fn grants_of(&self, match_name: &MatchName) -> Result<Vec<(Digest, Grant)>, StoreError> {
        let _grants = self.records.hold_grants();
        self.records.grants(&self.records.find_match(match_name)?)
    }

    /// Returns `true` if a player's seat has a live grant or an invitation that was not spent, so that somebody plays it
    /// or may yet.
    ///
    /// # Errors
    /// As for [`grants_of`](StoreReader::grants_of).
    pub fn is_taken(&self, match_name: &MatchName, seat: Seat, now_ms: i64) -> Result<bool, StoreError> {
        let _grants = self.records.hold_grants();
        let of = self.records.find_match(match_name)?;
        for listed in self.records.listed_grants(of.id) {
            let (hash, listed_seat) = listed.map_err(|error| error.within(&of.name, None))?;
            if listed_seat == Some(seat) && self.records.grant(&of, &hash)?.is_live(now_ms) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl Records {
    /// Reads a grant, if there is one.
    pub(crate) fn find_grant(&self, hash: &Digest) -> Result<Option<GrantRecord>, StoreError> {
        let key = key::of_grant(hash);
        let value = self.backend.get(&key)?;
        value.map(|value| read_grant(hash, &key, &value)).transpose()
    }

    /// Reads the grants of a match.
    pub(crate) fn grants(&self, of: &FoundMatch) -> Result<Vec<(Digest, Grant)>, StoreError> {
        let read = |listed: Result<(Digest, _), StoreError>| {
            let (hash, _) = listed.map_err(|error| error.within(&of.name, None))?;
            Ok((hash, self.grant(of, &hash)?))
        };
        self.listed_grants(of.id).map(read).collect()
    }

    /// Reads a grant that is listed for a match.
    pub(crate) fn grant(&self, of: &FoundMatch, hash: &Digest) -> Result<Grant, StoreError> {
        let found = self.find_grant(hash).and_then(|found| {
            let Some(GrantRecord { match_id, grant }) = found else {
                return Err(StoreError::damaged(format!("the grant `{}` is missing", GrantId::of(hash))));
            };
            if match_id != of.id || grant.match_name != of.name {
                let reason = format!("the grant `{}` is one of another match", GrantId::of(hash));
                return Err(StoreError::damaged(reason));
            }
            Ok(grant)
        });
        found.map_err(|error| error.within(&of.name, None))
    }

    /// Lists which grants a match has, and for which seats they are.
    pub(crate) fn listed_grants(
        &self,
        match_id: u64,
    ) -> impl Iterator<Item = Result<(Digest, Option<Seat>), StoreError>> {
        self.scan(key::grants_of(match_id)).map(|record| {
            let (key, value) = record?;
            let hash = key::hash_after(&key, key::ID_PREFIX);
            let hash =
                hash.ok_or_else(|| StoreError::damaged("the list of its grants has another record"))?;
            let what = format!("the record that lists the grant `{}`", GrantId::of(&hash));
            let MatchGrantRecord { seat } = record::read(&what, &key, &value)?;
            Ok((hash, seat))
        })
    }
}

/// Reads the record of a grant.
pub(crate) fn read_grant(hash: &Digest, key: &[u8], value: &[u8]) -> Result<GrantRecord, StoreError> {
    record::read(&format!("the grant `{}`", GrantId::of(hash)), key, value)
}
