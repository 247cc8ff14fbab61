//! Queries for grants, and how their rows are decoded.

use tokio_postgres::Row;
use turnfold_core::Digest;

use super::read::{Ask, digest, get, name, uuid};
use crate::decode::decode_exactly;
use crate::error::{Placed, StoreError};
use crate::grant::Grant;
use crate::names::MatchName;
use crate::reader::branch::FoundMatch;

pub(super) const FIND: &str =
    "SELECT a.hash, a.body, m.name, m.id FROM @access a JOIN @match m ON m.id = a.match WHERE a.hash = $1";
pub(super) const OF_MATCH: &str = "SELECT hash, body FROM @access WHERE match = $1 ORDER BY hash";
const FIND_ALL: &str =
    "SELECT a.hash, a.body, m.name FROM @access a JOIN @match m ON m.id = a.match WHERE a.hash = ANY($1)";

pub(super) fn find(ask: &impl Ask, hash: &Digest) -> Result<Option<Grant>, StoreError> {
    let rows = ask.rows(FIND, &[&bytes(hash)], None)?;
    rows.first().map(|row| read(row, &name(row, 2)?)).transpose()
}

/// Looks up grants by token hash; missing ones are skipped.
pub(super) fn find_all(ask: &impl Ask, hashes: &[Digest]) -> Result<Vec<(Digest, Grant)>, StoreError> {
    let hashes: Vec<_> = hashes.iter().map(bytes).collect();
    let rows = ask.rows(FIND_ALL, &[&hashes], None)?;
    rows.iter().map(|row| Ok((digest(row, 0)?, read(row, &name(row, 2)?)?))).collect()
}

pub(super) fn of_match(ask: &impl Ask, found_match: &FoundMatch) -> Result<Vec<(Digest, Grant)>, StoreError> {
    let rows = ask.rows(OF_MATCH, &[&uuid(found_match.id)], None)?;
    let mut grants = Vec::with_capacity(rows.len());
    for row in &rows {
        let hash = digest(row, 0).within(&found_match.name, None)?;
        grants.push((hash, read(row, &found_match.name).within(&found_match.name, None)?));
    }
    Ok(grants)
}

pub(super) fn bytes(hash: &Digest) -> &[u8] {
    hash.as_bytes()
}

pub(super) fn read(row: &Row, match_name: &MatchName) -> Result<Grant, StoreError> {
    match decode_exactly::<Grant>(get::<&[u8]>(row, 1)?) {
        // The stored name may be out of date.
        Ok(grant) => Ok(Grant { match_name: match_name.clone(), ..grant }),
        Err(error) => Err(StoreError::damaged(format!("a grant: {error}"))),
    }
}
