//! Makes, spends and revokes grants. Each change is judged while the grants are locked, so two requests cannot both
//! take the last place.

use turnfold_core::Digest;

use super::committer::{CommitSharing, Committer};
use crate::engine::EngineReader as _;
use crate::error::StoreError;
use crate::grant::{Grant, GrantId, GrantKind, JoinedSeat, NewGrant};
use crate::granting::{self, GrantBooks, Joining, Spent};
use crate::local::journal::op::Op;
use crate::local::reader::records::Records;
use crate::names::MatchName;
use crate::reader::found::FoundMatch;

pub(super) fn grant(
    (committer, records): (&Committer, &Records),
    hash: &Digest,
    new: NewGrant,
    now_ms: i64,
) -> Result<(), StoreError> {
    let mut books = records.change_grants();
    let found_match = records.found_match(&new.match_name)?;
    let made = (*hash, new.made(now_ms));
    make(committer, records, &mut books, (&found_match, made, None))
}

pub(super) fn join(
    (committer, records): (&Committer, &Records),
    invitation: &Digest,
    joining: Joining<'_>,
) -> Result<JoinedSeat, StoreError> {
    let token = joining.token;
    let mut books = records.change_grants();
    let found = records.grant_record(invitation)?.map(|record| record.grant);
    let Some(Spent { invitation: spent, joined }) = granting::spend(found, invitation, joining)? else {
        let joined = records.grant_record(token)?.map(|joined| JoinedSeat::Again(joined.grant));
        return joined.ok_or_else(|| StoreError::NoSuchGrant { id: GrantId::of(token) });
    };
    let found_match = records.found_match(&spent.match_name)?;
    records.grants_in(&mut books, &found_match)?.require_free(&joined)?;
    make(
        committer,
        records,
        &mut books,
        (&found_match, (*token, joined.clone()), Some((*invitation, spent))),
    )?;
    Ok(JoinedSeat::Now(joined))
}

pub(super) fn revoke(
    (committer, records): (&Committer, &Records),
    match_name: &MatchName,
    id: GrantId,
    now_ms: i64,
) -> Result<Digest, StoreError> {
    let mut books = records.change_grants();
    let found_match = records.found_match(match_name)?;
    let grants = records.grants_in(&mut books, &found_match)?;
    let hash = grants.find(id).ok_or(StoreError::NoSuchGrant { id })?;
    let found = records.grant(&found_match, &hash)?;
    if found.kind == GrantKind::Host {
        granting::require_host_left(match_name, (&hash, &found), records.grants(&found_match)?, now_ms)?;
    }
    if found.revoked_at_ms.is_none() {
        let grant = Grant { revoked_at_ms: Some(now_ms), ..found };
        write(committer, (match_name, Vec::new()), vec![(hash, grant.clone())])?;
        grants.set(hash, &grant);
    }
    Ok(hash)
}

/// Writes the grants of a match unchanged, as another store had them.
pub(super) fn keep(
    (committer, records): (&Committer, &Records),
    match_name: &MatchName,
    grants: Vec<(Digest, Grant)>,
) -> Result<(), StoreError> {
    let mut books = records.change_grants();
    records.found_match(match_name)?;
    books.clear();
    write(committer, (match_name, Vec::new()), grants)
}

/// Removes some grants of a match, and writes others, in one commit.
fn write(
    committer: &Committer,
    (match_name, removed): (&MatchName, Vec<Digest>),
    written: Vec<(Digest, Grant)>,
) -> Result<(), StoreError> {
    let match_name = match_name.clone();
    committer.perform(CommitSharing::Alone, move |_, staged| {
        for hash in removed {
            staged.add(&Op::RemoveGrant { match_name: match_name.clone(), hash });
        }
        for (hash, grant) in written {
            staged.add(&Op::SetGrant { hash, grant });
        }
        Ok(())
    })
}

/// Makes a grant of a match, and writes `replaced` in the same commit. Dead grants are removed to make room; the
/// replaced one does not count.
fn make(
    committer: &Committer,
    records: &Records,
    books: &mut GrantBooks,
    (found_match, (hash, grant), replaced): (&FoundMatch, (Digest, Grant), Option<(Digest, Grant)>),
) -> Result<(), StoreError> {
    if records.grant_record(&hash)?.is_some() {
        return Err(StoreError::GrantExists { id: GrantId::of(&hash) });
    }
    let grants = records.grants_in(books, found_match)?;
    let is_replaced = replaced.as_ref().map(|(replaced, _)| *replaced);
    let dead = grants.make_room(&found_match.name, (&hash, &grant), is_replaced)?;
    grants.forget_dead(dead.len());
    let written: Vec<_> = [Some((hash, grant)), replaced].into_iter().flatten().collect();
    for (hash, grant) in &written {
        grants.set(*hash, grant);
    }
    // After a failed write the books may be wrong, so they are read again.
    write(committer, (&found_match.name, dead), written).inspect_err(|_| books.clear())
}
