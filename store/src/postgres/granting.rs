//! Changes to grants, each judged in the transaction that writes it.

use turnfold_core::Digest;

use super::access::{FIND, OF_MATCH, bytes, read};
use super::connect::Connection;
use super::engine::Fleet;
use super::fault::StatementFault;
use super::read::{digest, get, name, uuid};
use crate::decode::decode_exactly;
use crate::engine::EngineReader as _;
use crate::entry::encode;
use crate::error::StoreError;
use crate::grant::{Grant, GrantId, JoinedSeat, NewGrant};
use crate::granting::{self, Joining, MatchGrants, Spent};
use crate::names::MatchName;
use crate::reader::branch::{EngineMatchId, FoundMatch};

const INSERT: &str = "INSERT INTO @access (hash, match, body) VALUES ($1, $2, $3)";
const UPDATE: &str = "UPDATE @access SET body = $3 WHERE hash = $1 AND body = $2";

type Judged<T> = Result<Result<T, StoreError>, StatementFault>;

/// Judges and writes in one serializable transaction, as if no other process wrote.
fn judged<T>(
    fleet: &Fleet,
    mut act: impl FnMut(&mut Connection, bool) -> Judged<T>,
) -> Result<T, StoreError> {
    fleet.pool().until_answered(|connection, maybe| {
        connection.run("BEGIN ISOLATION LEVEL SERIALIZABLE")?;
        let done = match act(connection, maybe) {
            // Another process inserted the same row, so judge again with the current rows.
            Err(StatementFault::Taken) => {
                return Err(StatementFault::Again("a grant was made at the same time".to_owned()));
            }
            done => done?,
        };
        connection.run(if done.is_ok() { "COMMIT" } else { "ROLLBACK" })?;
        Ok(done)
    })?
}

fn found(connection: &mut Connection, hash: &Digest) -> Result<Option<(FoundMatch, Grant)>, StatementFault> {
    let rows = connection.query(FIND, &[&bytes(hash)])?;
    let Some(row) = rows.first() else { return Ok(None) };
    let match_name: MatchName = name(row, 2)?;
    let grant = read(row, &match_name)?;
    let id = EngineMatchId(get::<uuid::Uuid>(row, 3)?.as_u128());
    let found_match = FoundMatch { name: match_name, id, branches: 0, genesis: Vec::new(), module: None };
    Ok(Some((found_match, grant)))
}

pub(super) fn grant(fleet: &Fleet, hash: &Digest, new: NewGrant, now_ms: i64) -> Result<(), StoreError> {
    let found_match = fleet.reading.found_match(&new.match_name)?;
    let grant = new.made(now_ms);
    judged(fleet, |connection, maybe| {
        if maybe && found(connection, hash)?.is_some_and(|(_, found)| found == grant) {
            return Ok(Ok(()));
        }
        insert(connection, (&found_match, None), (hash, &grant))
    })
}

pub(super) fn join(
    fleet: &Fleet,
    invitation: &Digest,
    joining: Joining<'_>,
) -> Result<JoinedSeat, StoreError> {
    let token = joining.token;
    judged(fleet, |connection, maybe| {
        let (found_match, found_grant) = found(connection, invitation)?.unzip();
        let (found_match, spent, joined) =
            match (found_match, granting::spend(found_grant, invitation, joining)) {
                (Some(found_match), Ok(Some(Spent { invitation, joined }))) => {
                    (found_match, invitation, joined)
                }
                (_, Err(error)) => return Ok(Err(error)),
                (_, Ok(_)) => {
                    let joined = found(connection, token)?.map(|(_, grant)| grant);
                    let joined = joined
                        .map(|grant| if maybe { JoinedSeat::Now(grant) } else { JoinedSeat::Again(grant) });
                    return Ok(joined.ok_or_else(|| StoreError::NoSuchGrant { id: GrantId::of(token) }));
                }
            };
        if let Err(error) = insert(connection, (&found_match, Some(*invitation)), (token, &joined))? {
            return Ok(Err(error));
        }
        update(connection, invitation, |grant| *grant = spent.clone())?;
        Ok(Ok(JoinedSeat::Now(joined)))
    })
}

pub(super) fn revoke(
    fleet: &Fleet,
    match_name: &MatchName,
    id: GrantId,
    now_ms: i64,
) -> Result<Digest, StoreError> {
    let found_match = fleet.reading.found_match(match_name)?;
    judged(fleet, |connection, _| {
        let rows = connection.query(OF_MATCH, &[&uuid(found_match.id)])?;
        let grants = rows.iter().map(|row| Ok((digest(row, 0)?, read(row, match_name)?)));
        let grants = grants.collect::<Result<Vec<_>, StoreError>>()?;
        let Some((hash, grant)) = grants.iter().find(|(hash, _)| GrantId::of(hash) == id).cloned() else {
            return Ok(Err(StoreError::NoSuchGrant { id }));
        };
        if let Err(error) = granting::require_host_left(match_name, (&hash, &grant), grants, now_ms) {
            return Ok(Err(error));
        }
        update(connection, &hash, |grant| {
            grant.revoked_at_ms.get_or_insert(now_ms);
        })?;
        Ok(Ok(hash))
    })
}

fn update(
    connection: &mut Connection,
    hash: &Digest,
    change: impl FnOnce(&mut Grant),
) -> Result<(), StatementFault> {
    let rows = connection.query("SELECT hash, body FROM @access WHERE hash = $1", &[&bytes(hash)])?;
    let Some(row) = rows.first() else {
        return Err(StatementFault::Again("a grant was removed at the same time".to_owned()));
    };
    let before = get::<&[u8]>(row, 1)?;
    let mut grant: Grant = decode_exactly(before)
        .map_err(|error| StatementFault::Store(StoreError::damaged(format!("a grant: {error}"))))?;
    change(&mut grant);
    let after = encode(&grant);
    match connection.execute(UPDATE, &[&bytes(hash), &before, &after])? {
        1 => Ok(()),
        _ => Err(StatementFault::Again("a grant was changed at the same time".to_owned())),
    }
}

/// Inserts a grant if its match has room for one more, not counting the grant that it replaces. Grants that no longer
/// count are deleted to make room.
fn insert(
    connection: &mut Connection,
    (found_match, replaced): (&FoundMatch, Option<Digest>),
    (hash, grant): (&Digest, &Grant),
) -> Judged<()> {
    let there = connection.query(
        "SELECT FROM @match WHERE id = $1 AND name = $2",
        &[&uuid(found_match.id), &found_match.name.as_str()],
    )?;
    if there.is_empty() {
        return Ok(Err(StoreError::NoSuchMatch { match_name: found_match.name.clone() }));
    }
    let rows = connection.query(OF_MATCH, &[&uuid(found_match.id)])?;
    let mut others = MatchGrants::default();
    for row in &rows {
        others.set(digest(row, 0)?, &read(row, &found_match.name)?);
    }
    if found(connection, hash)?.is_some() {
        return Ok(Err(StoreError::GrantExists { id: GrantId::of(hash) }));
    }
    if replaced.is_some()
        && let Err(error) = others.require_free(grant)
    {
        return Ok(Err(error));
    }
    match others.make_room(&found_match.name, (hash, grant), replaced) {
        Err(error) => return Ok(Err(error)),
        Ok(dead) => {
            for other in dead {
                connection.execute("DELETE FROM @access WHERE hash = $1", &[&bytes(&other)])?;
            }
        }
    }
    connection.execute(INSERT, &[&bytes(hash), &uuid(found_match.id), &encode(grant)])?;
    Ok(Ok(()))
}
