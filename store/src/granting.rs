//! What is judged of grants as they are written, whichever engine keeps them.

use turnfold_core::{Digest, Seat};

use crate::error::StoreError;
use crate::grant::{Grant, GrantId, GrantKind};
use crate::names::MatchName;

/// The most grants of a match that are kept, those that count no more included.
const KEPT_MAX: usize = 2 * Grant::LIVE_MAX;

/// An invitation that is spent.
pub(crate) struct Spent {
    /// It itself, as it is from now on.
    pub(crate) invitation: Grant,
    /// The grant of its seat.
    pub(crate) joined: Grant,
}

/// Judges whether an invitation may be spent for a token; `None` if it was spent for this one before.
pub(crate) fn spend(
    found: Option<Grant>,
    invitation: &Digest,
    token: &Digest,
    now_ms: i64,
) -> Result<Option<Spent>, StoreError> {
    let id = GrantId::of(invitation);
    let Some((found, seat)) = found.and_then(|found| match found.kind {
        GrantKind::Invitation(seat) => Some((found, seat)),
        _ => None,
    }) else {
        return Err(StoreError::NoSuchGrant { id });
    };
    match found.became {
        Some(became) if became == *token => Ok(None),
        Some(_) => Err(StoreError::InvitationSpent { id }),
        None if !found.is_live(now_ms) => Err(StoreError::NoSuchGrant { id }),
        None => {
            let joined = Grant {
                kind: GrantKind::Seat(seat),
                created_at_ms: now_ms,
                expires_at_ms: None,
                ..found.clone()
            };
            Ok(Some(Spent { invitation: Grant { became: Some(*token), ..found }, joined }))
        }
    }
}

/// Judges whether a match may have one more grant. `others` has the seats of the present grants and `read` the rest.
/// Returns the grants that no longer count and make room for it.
///
/// One of them may be `replaced` by it, and does not count.
pub(crate) fn make_room(
    match_name: &MatchName,
    (hash, grant): (&Digest, &Grant),
    replaced: Option<Digest>,
    mut others: Vec<(Digest, Option<Seat>)>,
    mut read: impl FnMut(&Digest) -> Result<Grant, StoreError>,
) -> Result<Vec<Digest>, StoreError> {
    let (id, seat, now_ms) = (GrantId::of(hash), grant.kind.seat(), grant.created_at_ms);
    if seat == Some(Seat::Host) {
        return Err(StoreError::NotAPlayer { seat: Seat::Host });
    }
    // By its name a grant is revoked, so no two of a match may share one.
    if others.iter().any(|(other, _)| GrantId::of(other) == id) {
        return Err(StoreError::GrantExists { id });
    }
    others.retain(|(other, _)| Some(*other) != replaced);
    let too_many =
        |seat, limit| Err(StoreError::TooManyGrants { match_name: match_name.clone(), seat, limit });
    if seat.is_some() {
        let of_seat = others.iter().filter(|(_, other)| *other == seat);
        let of_seat = of_seat.map(|(other, _)| read(other)).collect::<Result<Vec<_>, _>>()?;
        if of_seat.iter().filter(|other| other.is_live(now_ms)).count() >= Grant::LIVE_MAX_PER_SEAT {
            return too_many(seat, Grant::LIVE_MAX_PER_SEAT);
        }
    }
    // As long as there are so few, no more of them can be live.
    if others.len() < Grant::LIVE_MAX {
        return Ok(Vec::new());
    }
    let all = others.iter().map(|(other, _)| Ok((*other, read(other)?)));
    let all = all.collect::<Result<Vec<_>, StoreError>>()?;
    let (live, mut dead): (Vec<_>, Vec<_>) = all.into_iter().partition(|(_, other)| other.is_live(now_ms));
    if live.len() >= Grant::LIVE_MAX {
        return too_many(None, Grant::LIVE_MAX);
    }
    dead.sort_by_key(|(other, grant)| (grant.created_at_ms, *other));
    let surplus = (others.len() + 1).saturating_sub(KEPT_MAX);
    Ok(dead.into_iter().take(surplus).map(|(other, _)| other).collect())
}
