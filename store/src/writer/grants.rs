//! Making, spending and revoking grants: all is judged as it is written, so no two of them can both be the last.

use turnfold_core::{Digest, Seat};

use super::committer::Order;
use super::ledger::Staged;
use super::store::Store;
use crate::error::StoreError;
use crate::grant::{Grant, GrantId, GrantKind, JoinedSeat, NewGrant};
use crate::layout::key;
use crate::layout::record::{GrantRecord, MatchGrantRecord};
use crate::names::MatchName;
use crate::reader::found::FoundMatch;
use crate::reader::records::Records;

/// The most grants of a match that are kept, those that count no more included.
const KEPT_MAX: usize = 2 * Grant::LIVE_MAX;

impl Store {
    /// Makes a grant for the token with this hash; when it returns, the grant is durable.
    ///
    /// A match may have [`Grant::LIVE_MAX`] live grants and each seat [`Grant::LIVE_MAX_PER_SEAT`] of them, invitations
    /// that were not spent included. Of twice as many in all, those that count no more and were made first are removed.
    ///
    /// # Errors
    /// [`StoreError::TooManyGrants`], [`StoreError::GrantExists`] when the hash or its beginning is used already,
    /// [`StoreError::NotAPlayer`], [`StoreError::NoSuchMatch`], and those of reading and writing.
    pub fn grant(&self, hash: &Digest, new: NewGrant, now_ms: i64) -> Result<(), StoreError> {
        let _grants = self.records().change_grants();
        let hash = *hash;
        self.committer.perform(Order::Alone, move |ledger, staged| {
            let records = &ledger.records;
            let of = records.find_match(&new.match_name)?;
            let NewGrant { kind, match_name, label, expires_at_ms } = new;
            let grant = Grant {
                kind,
                match_name,
                label,
                created_at_ms: now_ms,
                expires_at_ms,
                revoked_at_ms: None,
                became: None,
            };
            stage_new(records, staged, (&of, None), (hash, grant))
        })
    }

    /// Spends an invitation for a token of the player who accepts it, both known by their hashes. Once more with the same
    /// token changes nothing, so that an answer that was lost can be asked for again.
    ///
    /// The grant of the seat has the invitation's label and does not expire.
    ///
    /// # Errors
    /// [`StoreError::NoSuchGrant`] when there is no such invitation, or when it was revoked or has expired;
    /// [`StoreError::InvitationSpent`] when it was spent for another token; [`StoreError::GrantExists`] when the token is
    /// used already; those of reading and writing.
    pub fn join(&self, invitation: &Digest, token: &Digest, now_ms: i64) -> Result<JoinedSeat, StoreError> {
        let _grants = self.records().change_grants();
        let (invitation, token) = (*invitation, *token);
        self.committer.perform(Order::Alone, move |ledger, staged| {
            let records = &ledger.records;
            let id = GrantId::of(&invitation);
            let found = records.find_grant(&invitation)?.map(|record| record.grant);
            let Some(Grant { kind: GrantKind::Invitation(seat), .. }) = found else {
                return Err(StoreError::NoSuchGrant { id });
            };
            let spent = found.filter(|found| found.became.is_some() || found.is_live(now_ms));
            let Some(mut spent) = spent else { return Err(StoreError::NoSuchGrant { id }) };
            if let Some(became) = spent.became {
                if became != token {
                    return Err(StoreError::InvitationSpent { id });
                }
                let joined = records.find_grant(&token)?.map(|joined| JoinedSeat::Again(joined.grant));
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
            stage(staged, of.id, (invitation, spent));
            Ok(JoinedSeat::Now(grant))
        })
    }

    /// Revokes a grant of a match and returns the hash of its token. One that was revoked before stays as it is; what an
    /// invitation became has to be revoked by itself.
    ///
    /// # Errors
    /// [`StoreError::NoSuchGrant`] when the match has no such grant, [`StoreError::NoSuchMatch`], and those of reading
    /// and writing.
    pub fn revoke_grant(
        &self,
        match_name: &MatchName,
        id: GrantId,
        now_ms: i64,
    ) -> Result<Digest, StoreError> {
        let _grants = self.records().change_grants();
        let match_name = match_name.clone();
        self.committer.perform(Order::Alone, move |ledger, staged| {
            let of = ledger.records.find_match(&match_name)?;
            let mut grants = ledger.records.grants(&of)?.into_iter();
            let Some((hash, grant)) = grants.find(|(hash, _)| GrantId::of(hash) == id) else {
                return Err(StoreError::NoSuchGrant { id });
            };
            if grant.revoked_at_ms.is_none() {
                stage(staged, of.id, (hash, Grant { revoked_at_ms: Some(now_ms), ..grant }));
            }
            Ok(hash)
        })
    }

    /// Writes grants of a match as they were in another store.
    pub(crate) fn keep_grants(
        &self,
        match_name: &MatchName,
        grants: Vec<(Digest, Grant)>,
    ) -> Result<(), StoreError> {
        let match_name = match_name.clone();
        self.committer.perform(Order::Alone, move |ledger, staged| {
            let of = ledger.records.find_match(&match_name)?;
            for grant in grants {
                stage(staged, of.id, grant);
            }
            Ok(())
        })
    }
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
    let mut others = records.listed_grants(of.id).collect::<Result<Vec<_>, _>>()?;
    // By its name a grant is revoked, so no two of a match may share one.
    if records.find_grant(&hash)?.is_some() || others.iter().any(|(other, _)| GrantId::of(other) == id) {
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
        dead.iter().take(surplus).for_each(|(other, _)| remove(staged, of.id, other));
    }
    stage(staged, of.id, (hash, grant));
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
