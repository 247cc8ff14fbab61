//! Finds grants by the hash of their token, or by their match.

use turnfold_core::{Digest, Seat};

use super::records::Records;
use crate::engine::EngineReader as _;
use crate::error::StoreError;
use crate::grant::{Grant, GrantId};
use crate::granting::{GrantBooks, MatchGrants};
use crate::local::layout::record::{GrantRecord, MatchGrantRecord};
use crate::local::layout::{key, record};
use crate::names::MatchName;
use crate::reader::found::FoundMatch;

impl Records {
    /// Returns the grants of a match from the books, after reading them into the books if necessary.
    pub(crate) fn grants_in<'a>(
        &self,
        books: &'a mut GrantBooks,
        found_match: &FoundMatch,
    ) -> Result<&'a mut MatchGrants, StoreError> {
        books.of(found_match.number(), || Ok(self.grants(found_match)?.into_iter().collect()))
    }

    /// Calls `ask` with the grants of a match, after reading them into memory if necessary.
    pub(crate) fn of_grants<T>(
        &self,
        match_name: &MatchName,
        ask: impl FnOnce(&MatchGrants) -> T,
    ) -> Result<T, StoreError> {
        {
            let books = self.hold_grants();
            if let Some(grants) = books.known(self.found_match(match_name)?.number()) {
                return Ok(ask(grants));
            }
        }
        let mut books = self.change_grants();
        Ok(ask(self.grants_in(&mut books, &self.found_match(match_name)?)?))
    }

    pub(crate) fn grant_record(&self, hash: &Digest) -> Result<Option<GrantRecord>, StoreError> {
        let key = key::of_grant(hash);
        let value = self.backend.get(&key)?;
        value.map(|value| read_grant(hash, &key, &value)).transpose()
    }

    pub(crate) fn grants(&self, found_match: &FoundMatch) -> Result<Vec<(Digest, Grant)>, StoreError> {
        let read = |listed: Result<(Digest, _), StoreError>| {
            let (hash, _) = listed.map_err(|error| error.within(&found_match.name, None))?;
            Ok((hash, self.grant(found_match, &hash)?))
        };
        self.listed_grants(found_match.number()).map(read).collect()
    }

    pub(crate) fn grant(&self, found_match: &FoundMatch, hash: &Digest) -> Result<Grant, StoreError> {
        let found = self.grant_record(hash).and_then(|found| {
            let Some(GrantRecord { match_id, grant }) = found else {
                return Err(StoreError::damaged(format!("the grant `{}` is missing", GrantId::of(hash))));
            };
            if match_id != found_match.number() || grant.match_name != found_match.name {
                let reason = format!("the grant `{}` is one of another match", GrantId::of(hash));
                return Err(StoreError::damaged(reason));
            }
            Ok(grant)
        });
        found.map_err(|error| error.within(&found_match.name, None))
    }

    /// Lists the hashes of a match's grants, and the seats that the grants are for.
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

pub(crate) fn read_grant(hash: &Digest, key: &[u8], value: &[u8]) -> Result<GrantRecord, StoreError> {
    record::read(&format!("the grant `{}`", GrantId::of(hash)), key, value)
}
