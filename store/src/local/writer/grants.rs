//! Making, spending and revoking grants: all is judged as it is written, so no two of them can both be the last.

use turnfold_core::Digest;

use super::committer::{Committer, Order};
use super::ledger::Staged;
use crate::error::StoreError;
use crate::grant::{Grant, GrantId, JoinedSeat, NewGrant};
use crate::granting::{self, Spent};
use crate::local::journal::op::Op;
use crate::local::reader::records::Records;
use crate::names::MatchName;
use crate::reader::found::FoundMatch;

/// Makes a grant.
pub(super) fn grant(
    (committer, records): (&Committer, &Records),
    hash: &Digest,
    new: NewGrant,
    now_ms: i64,
) -> Result<(), StoreError> {
    let _grants = records.change_grants();
    let hash = *hash;
    committer.perform(Order::Alone, move |ledger, staged| {
        let records = &ledger.records;
        let of = records.find_match(&new.match_name)?;
        let grant = new.made(now_ms);
        stage_new(records, staged, (&of, None), (hash, grant))
    })
}

/// Spends an invitation.
pub(super) fn join(
    (committer, records): (&Committer, &Records),
    invitation: &Digest,
    token: &Digest,
    now_ms: i64,
) -> Result<JoinedSeat, StoreError> {
    let _grants = records.change_grants();
    let (invitation, token) = (*invitation, *token);
    committer.perform(Order::Alone, move |ledger, staged| {
        let records = &ledger.records;
        let found = records.grant_record(&invitation)?.map(|record| record.grant);
        let Some(Spent { invitation: spent, joined }) = granting::spend(found, &invitation, &token, now_ms)?
        else {
            let joined = records.grant_record(&token)?.map(|joined| JoinedSeat::Again(joined.grant));
            return joined.ok_or_else(|| StoreError::NoSuchGrant { id: GrantId::of(&token) });
        };
        let of = records.find_match(&spent.match_name)?;
        stage_new(records, staged, (&of, Some(invitation)), (token, joined.clone()))?;
        stage(staged, (invitation, spent));
        Ok(JoinedSeat::Now(joined))
    })
}

/// Revokes a grant.
pub(super) fn revoke(
    (committer, records): (&Committer, &Records),
    match_name: &MatchName,
    id: GrantId,
    now_ms: i64,
) -> Result<Digest, StoreError> {
    let _grants = records.change_grants();
    let match_name = match_name.clone();
    committer.perform(Order::Alone, move |ledger, staged| {
        let of = ledger.records.find_match(&match_name)?;
        let mut grants = ledger.records.grants(&of)?.into_iter();
        let Some((hash, grant)) = grants.find(|(hash, _)| GrantId::of(hash) == id) else {
            return Err(StoreError::NoSuchGrant { id });
        };
        if grant.revoked_at_ms.is_none() {
            stage(staged, (hash, Grant { revoked_at_ms: Some(now_ms), ..grant }));
        }
        Ok(hash)
    })
}

/// Writes grants of a match as they were in another store.
pub(super) fn keep(
    committer: &Committer,
    match_name: &MatchName,
    grants: Vec<(Digest, Grant)>,
) -> Result<(), StoreError> {
    let match_name = match_name.clone();
    committer.perform(Order::Alone, move |ledger, staged| {
        ledger.records.find_match(&match_name)?;
        for grant in grants {
            stage(staged, grant);
        }
        Ok(())
    })
}

/// Makes a grant of a match, if it may have one more but for the one that is replaced. What counts no more makes room.
fn stage_new(
    records: &Records,
    staged: &mut Staged,
    (of, replaced): (&FoundMatch, Option<Digest>),
    (hash, grant): (Digest, Grant),
) -> Result<(), StoreError> {
    if records.grant_record(&hash)?.is_some() {
        return Err(StoreError::GrantExists { id: GrantId::of(&hash) });
    }
    let others = records.listed_grants(of.number()).collect::<Result<Vec<_>, _>>()?;
    let read = |other: &Digest| records.grant(of, other);
    for other in granting::make_room(&of.name, (&hash, &grant), replaced, others, read)? {
        staged.add(&Op::RemoveGrant { match_name: of.name.clone(), hash: other });
    }
    stage(staged, (hash, grant));
    Ok(())
}

/// Writes a grant of the match that it names.
fn stage(staged: &mut Staged, (hash, grant): (Digest, Grant)) {
    staged.add(&Op::SetGrant { hash, grant });
}
