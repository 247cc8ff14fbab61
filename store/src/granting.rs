//! Judges changes of grants, for any engine.

use std::collections::{BTreeMap, BTreeSet};

use turnfold_core::{Digest, Seat};

use crate::error::StoreError;
use crate::grant::{Grant, GrantId, GrantKind};
use crate::names::{GrantLabel, MatchName, PlayerName, compared};

/// The most grants that a match keeps, dead ones included.
const KEPT_MAX: usize = 2 * Grant::LIVE_MAX;

pub(crate) struct Spent {
    /// The invitation, marked as spent.
    pub(crate) invitation: Grant,
    /// The grant of the seat.
    pub(crate) joined: Grant,
}

#[derive(Clone, Copy)]
pub(crate) struct Joining<'a> {
    pub(crate) token: &'a Digest,
    pub(crate) name: Option<&'a PlayerName>,
    pub(crate) now_ms: i64,
}

/// Judges whether an invitation may be spent for a token; `None` if it was already spent for this token.
pub(crate) fn spend(
    found: Option<Grant>,
    invitation: &Digest,
    Joining { token, name, now_ms }: Joining<'_>,
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
            let (kind, label) = match name {
                Some(name) => (GrantKind::Player(seat), name.clone().into()),
                None => (GrantKind::Seat(seat), found.label.clone()),
            };
            let joined = Grant { kind, label, created_at_ms: now_ms, expires_at_ms: None, ..found.clone() };
            Ok(Some(Spent { invitation: Grant { became: Some(*token), ..found }, joined }))
        }
    }
}

pub(crate) fn require_host_left(
    match_name: &MatchName,
    (hash, grant): (&Digest, &Grant),
    grants: impl IntoIterator<Item = (Digest, Grant)>,
    now_ms: i64,
) -> Result<(), StoreError> {
    // A match keeps one live host grant, because only a host can give others access.
    if grant.kind != GrantKind::Host || !grant.is_live(now_ms) {
        return Ok(());
    }
    for (other, grant) in grants {
        if other != *hash && grant.kind == GrantKind::Host && grant.is_live(now_ms) {
            return Ok(());
        }
    }
    Err(StoreError::LastHost { match_name: match_name.clone(), id: GrantId::of(hash) })
}

/// The grants of a match, arranged so that judging one more takes about as long however many there are.
#[derive(Debug, Default)]
pub(crate) struct MatchGrants {
    ids: BTreeMap<GrantId, Digest>,
    /// The grants that are neither revoked nor spent, nor known to have expired.
    live: BTreeMap<Digest, LiveGrant>,
    /// The live grants by player's seat.
    seats: BTreeMap<Seat, BTreeSet<Digest>>,
    /// The live grants by expiry.
    ends: BTreeSet<(i64, Digest)>,
    /// All other grants by creation time.
    dead: BTreeSet<(i64, Digest)>,
    /// The names of the players whose grants are live.
    names: BTreeMap<Digest, GrantLabel>,
}

#[derive(Clone, Copy, Debug)]
struct LiveGrant {
    kind: GrantKind,
    created_at_ms: i64,
    expires_at_ms: Option<i64>,
}

impl FromIterator<(Digest, Grant)> for MatchGrants {
    fn from_iter<T: IntoIterator<Item = (Digest, Grant)>>(grants: T) -> Self {
        let mut all = Self::default();
        grants.into_iter().for_each(|(hash, grant)| all.set(hash, &grant));
        all
    }
}

impl MatchGrants {
    pub(crate) fn len(&self) -> usize {
        self.ids.len()
    }

    pub(crate) fn find(&self, id: GrantId) -> Option<Digest> {
        self.ids.get(&id).copied()
    }

    pub(crate) fn is_taken(&self, seat: Seat, now_ms: i64) -> bool {
        self.of_seat(seat, now_ms).next().is_some()
    }

    pub(crate) fn is_played(&self, seat: Seat, now_ms: i64) -> bool {
        self.of_seat(seat, now_ms).any(|grant| grant.kind.played().is_some())
    }

    fn of_seat(&self, seat: Seat, now_ms: i64) -> impl Iterator<Item = &LiveGrant> {
        let live = self.seats.get(&seat).into_iter().flatten().filter_map(|hash| self.live.get(hash));
        live.filter(move |grant| grant.expires_at_ms.is_none_or(|at| at > now_ms))
    }

    pub(crate) fn names(&self, now_ms: i64) -> BTreeMap<Seat, GrantLabel> {
        let mut names = BTreeMap::new();
        for (hash, name) in &self.names {
            let live = self.live.get(hash).filter(|live| live.expires_at_ms.is_none_or(|at| at > now_ms));
            if let Some(seat) = live.and_then(|live| live.kind.seat()) {
                names.insert(seat, name.clone());
            }
        }
        names
    }

    pub(crate) fn require_free(&self, joined: &Grant) -> Result<(), StoreError> {
        let now_ms = joined.created_at_ms;
        let Some(seat) = joined.kind.played() else { return Ok(()) };
        if self.is_played(seat, now_ms) {
            return Err(StoreError::SeatTaken { seat });
        }
        let GrantKind::Player(_) = joined.kind else { return Ok(()) };
        let name = compared(joined.label.as_str());
        if self.names(now_ms).values().any(|other| compared(other.as_str()) == name) {
            return Err(StoreError::NameTaken { name: joined.label.clone() });
        }
        Ok(())
    }

    pub(crate) fn set(&mut self, hash: Digest, grant: &Grant) {
        let Grant { created_at_ms, expires_at_ms, .. } = *grant;
        self.bury(&hash);
        self.ids.insert(GrantId::of(&hash), hash);
        if grant.revoked_at_ms.is_some() || grant.became.is_some() {
            self.dead.insert((created_at_ms, hash));
            return;
        }
        self.dead.remove(&(created_at_ms, hash));
        let kind = grant.kind;
        self.live.insert(hash, LiveGrant { kind, created_at_ms, expires_at_ms });
        if matches!(kind, GrantKind::Player(_)) {
            self.names.insert(hash, grant.label.clone());
        }
        if let Some(seat) = kind.seat() {
            self.seats.entry(seat).or_default().insert(hash);
        }
        if let Some(at) = expires_at_ms {
            self.ends.insert((at, hash));
        }
    }

    fn bury(&mut self, hash: &Digest) {
        let Some(LiveGrant { kind, created_at_ms, expires_at_ms }) = self.live.remove(hash) else { return };
        self.names.remove(hash);
        if let Some(hashes) = kind.seat().and_then(|seat| self.seats.get_mut(&seat)) {
            hashes.remove(hash);
        }
        if let Some(at) = expires_at_ms {
            self.ends.remove(&(at, *hash));
        }
        self.dead.insert((created_at_ms, *hash));
    }

    /// Judges whether the match may have one more grant. Returns the dead grants that must be removed to make room.
    ///
    /// A grant that is `replaced` does not count.
    pub(crate) fn make_room(
        &mut self,
        match_name: &MatchName,
        (hash, grant): (&Digest, &Grant),
        replaced: Option<Digest>,
    ) -> Result<Vec<Digest>, StoreError> {
        let id = GrantId::of(hash);
        let seat = grant.kind.seat();
        let now_ms = grant.created_at_ms;
        if seat == Some(Seat::Host) {
            return Err(StoreError::NotAPlayer { seat: Seat::Host });
        }
        // A grant is revoked by its id, so ids must be unique within a match.
        if self.ids.contains_key(&id) {
            return Err(StoreError::GrantExists { id });
        }
        while let Some((_, expired)) = self.ends.first().copied().filter(|(at, _)| *at <= now_ms) {
            self.bury(&expired);
        }
        let replaced = replaced.and_then(|hash| self.live.get(&hash));
        let of_seat = seat.and_then(|seat| self.seats.get(&seat)).map_or(0, BTreeSet::len);
        let of_seat =
            of_seat.saturating_sub(usize::from(replaced.is_some_and(|other| other.kind.seat() == seat)));
        let replaced = usize::from(replaced.is_some());
        let too_many =
            |seat, limit| Err(StoreError::TooManyGrants { match_name: match_name.clone(), seat, limit });
        if seat.is_some() && of_seat >= Grant::LIVE_MAX_PER_SEAT {
            return too_many(seat, Grant::LIVE_MAX_PER_SEAT);
        }
        if self.live.len() - replaced >= Grant::LIVE_MAX {
            return too_many(None, Grant::LIVE_MAX);
        }
        let surplus = (self.len() + 1).saturating_sub(KEPT_MAX);
        Ok(self.dead.iter().take(surplus).map(|(_, other)| *other).collect())
    }

    /// Forgets the oldest dead grants, after they were removed as [`make_room`](Self::make_room) listed.
    pub(crate) fn forget_dead(&mut self, count: usize) {
        for _ in 0..count {
            if let Some((_, hash)) = self.dead.pop_first() {
                self.ids.remove(&GrantId::of(&hash));
            }
        }
    }
}

/// The most grants held in memory. Beyond that, all are dropped and read again when they are needed.
const HELD_MAX: usize = 100_000;

#[derive(Default)]
pub(crate) struct GrantBooks {
    /// The grants of each match, by its id.
    books: BTreeMap<u64, MatchGrants>,
    held: usize,
}

impl GrantBooks {
    pub(crate) fn known(&self, number: u64) -> Option<&MatchGrants> {
        self.books.get(&number)
    }

    pub(crate) fn of(
        &mut self,
        number: u64,
        read: impl FnOnce() -> Result<MatchGrants, StoreError>,
    ) -> Result<&mut MatchGrants, StoreError> {
        if !self.books.contains_key(&number) {
            let read = read()?;
            if self.held + read.len() > HELD_MAX {
                self.clear();
            }
            self.held += read.len();
            self.books.insert(number, read);
        }
        Ok(self.books.entry(number).or_default())
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }
}
