//! Making, spending and revoking grants: all is judged as it is written, so no two of them can both be the last.

use turnfold_core::{Digest, Seat};

use super::committer::{Committer, Order};
use super::ledger::Staged;
use crate::error::StoreError;
use crate::grant::{Grant, GrantId, GrantKind, JoinedSeat, NewGrant};
use crate::local::layout::key;
use crate::local::layout::record::{GrantRecord, MatchGrantRecord};
use crate::local::reader::records::Records;
use crate::names::MatchName;
use crate::reader::found::FoundMatch;

/// The most grants of a match that are kept, those that count no more included.
const KEPT_MAX: usize = 2 * Grant::LIVE_MAX;

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
        let id = GrantId::of(&invitation);
        let found = records.grant_record(&invitation)?.map(|record| record.grant);
        let Some(Grant { kind: GrantKind::Invitation(seat), .. }) = found else {
            return Err(StoreError::NoSuchGrant { id });
        };
        let spent = found.filter(|found| found.became.is_some() || found.is_live(now_ms));
        let Some(mut spent) = spent else { return Err(StoreError::NoSuchGrant { id }) };
        if let Some(became) = spent.became {
            if became != token {
                return Err(StoreError::InvitationSpent { id });
            }
            let joined = records.grant_record(&token)?.map(|joined| JoinedSeat::Again(joined.grant));
            return joined.ok_or_else(|| StoreError::NoSuchGrant { id: GrantId::of(&token) });
        }
        let of = records.find_match(&spent.match_name)?;
        let (match_name, label) = (spent.match_name.clone(), spent.label.clone());
        let grant = Grant {
            kind: GrantKind::Seat(seat),
            match_name,
            label,
            created_at_ms: now_ms,
            expires_at_ms: None,
            revoked_at_ms: None,
            became: None,
        };
        stage_new(records, staged, (&of, Some(invitation)), (token, grant.clone()))?;
        spent.became = Some(token);
        stage(staged, of.number(), (invitation, spent));
        Ok(JoinedSeat::Now(grant))
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
            stage(staged, of.number(), (hash, Grant { revoked_at_ms: Some(now_ms), ..grant }));
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
        let of = ledger.records.find_match(&match_name)?;
        for grant in grants {
            stage(staged, of.number(), grant);
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
    let (id, seat, now_ms) = (GrantId::of(&hash), grant.kind.seat(), grant.created_at_ms);
    if seat == Some(Seat::Host) {
        return Err(StoreError::NotAPlayer { seat: Seat::Host });
    }
    let mut others = records.listed_grants(of.number()).collect::<Result<Vec<_>, _>>()?;
    // By its name a grant is revoked, so no two of a match may share one.
    if records.grant_record(&hash)?.is_some() || others.iter().any(|(other, _)| GrantId::of(other) == id) {
        return Err(StoreError::GrantExists { id });
    }
    others.retain(|(other, _)| Some(*other) != replaced);
    let too_many = |seat, limit| Err(StoreError::TooManyGrants { match_name: of.name.clone(), seat, limit });
    if seat.is_some() {
        let of_seat = others.iter().filter(|(_, other)| *other == seat);
        let of_seat = of_seat.map(|(other, _)| records.grant(of, other)).collect::<Result<Vec<_>, _>>()?;
        if of_seat.iter().filter(|other| other.is_live(now_ms)).count() >= Grant::LIVE_MAX_PER_SEAT {
            return too_many(seat, Grant::LIVE_MAX_PER_SEAT);
        }
    }
    // As long as there are so few, no more of them can be live.
    if others.len() >= Grant::LIVE_MAX {
        let (live, mut dead): (Vec<_>, Vec<_>) = {
            let read = others.iter().map(|(other, _)| Ok((*other, records.grant(of, other)?)));
            let read = read.collect::<Result<Vec<_>, StoreError>>()?;
            read.into_iter().partition(|(_, other)| other.is_live(now_ms))
        };
        if live.len() >= Grant::LIVE_MAX {
            return too_many(None, Grant::LIVE_MAX);
        }
        let surplus = (others.len() + 1).saturating_sub(KEPT_MAX);
        dead.sort_by_key(|(other, grant)| (grant.created_at_ms, *other));
        dead.iter().take(surplus).for_each(|(other, _)| remove(staged, of.number(), other));
    }
    stage(staged, of.number(), (hash, grant));
    Ok(())
}

/// Removes the grants of a match.
pub(super) fn stage_removal(records: &Records, staged: &mut Staged, match_id: u64) -> Result<(), StoreError> {
    for listed in records.listed_grants(match_id) {
        remove(staged, match_id, &listed?.0);
    }
    Ok(())
}

/// Writes a grant of a match, and that it is one.
pub(super) fn stage(staged: &mut Staged, match_id: u64, (hash, grant): (Digest, Grant)) {
    let seat = grant.kind.seat();
    staged.put(key::of_match_grant(match_id, &hash), &MatchGrantRecord { seat });
    staged.put(key::of_grant(&hash), &GrantRecord { match_id, grant });
}

/// Removes a grant of a match.
fn remove(staged: &mut Staged, match_id: u64, hash: &Digest) {
    staged.remove(key::of_match_grant(match_id, hash));
    staged.remove(key::of_grant(hash));
}
