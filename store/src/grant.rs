//! Grants: who may join a match, by a token. Only the hash of the token is known.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use turnfold_core::{Digest, Seat};

use crate::names::{GrantLabel, MatchName};

/// What the holder of a token may do with one match. The field order is the format.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    /// What it is for.
    pub kind: GrantKind,
    /// The match, under the name that it has now.
    pub match_name: MatchName,
    /// What the host calls it; of a [`GrantKind::Player`], the name that all players see.
    pub label: GrantLabel,
    /// When it was made, in Unix milliseconds.
    pub created_at_ms: i64,
    /// From when on it counts no more.
    pub expires_at_ms: Option<i64>,
    /// When it was revoked.
    pub revoked_at_ms: Option<i64>,
    /// The hash of the seat's token for which an invitation was spent.
    pub became: Option<Digest>,
}

/// What a grant is for. The variant order is the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum GrantKind {
    /// Everything about the match.
    Host,
    /// What a player's seat sees and commands.
    Seat(Seat),
    /// Looking on.
    Spectator {
        /// Zero. Earlier builds kept a delay here; a grant with one permits nothing, as a live view would show more.
        reserved: u64,
    },
    /// Being exchanged, once, for a grant of a player's seat.
    Invitation(Seat),
    /// The same as [`Seat`](Self::Seat), of a player who joined under a name.
    Player(Seat),
}

/// A grant to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewGrant {
    /// What it is for.
    pub kind: GrantKind,
    /// The match.
    pub match_name: MatchName,
    /// What the host calls it.
    pub label: GrantLabel,
    /// From when on it counts no more.
    pub expires_at_ms: Option<i64>,
}

/// What came of an invitation: the grant of the seat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JoinedSeat {
    /// The invitation was spent.
    Now(Grant),
    /// It had been spent for the same token before, and nothing was changed. The grant may have been revoked since.
    Again(Grant),
}

/// What a grant is called: the first 16 hex digits of the hash of its token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct GrantId(u64);

/// Text that is not 16 lowercase hex digits.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected 16 lowercase hex digits, found `{}`", found.escape_debug())]
pub struct NotAGrantId {
    found: String,
}

impl NewGrant {
    pub(crate) fn made(self, now_ms: i64) -> Grant {
        let Self { kind, match_name, label, expires_at_ms } = self;
        Grant {
            kind,
            match_name,
            label,
            created_at_ms: now_ms,
            expires_at_ms,
            revoked_at_ms: None,
            became: None,
        }
    }
}

impl Grant {
    /// The most live grants that a match may have.
    pub const LIVE_MAX: usize = 1_000;

    /// The most live grants that a seat of a match may have.
    pub const LIVE_MAX_PER_SEAT: usize = 8;

    /// Returns `true` if it is neither revoked, expired nor spent.
    #[must_use]
    pub fn is_live(&self, now_ms: i64) -> bool {
        let is_expired = self.expires_at_ms.is_some_and(|at| at <= now_ms);
        let is_of_earlier_build = matches!(self.kind, GrantKind::Spectator { reserved: 1.. });
        !is_expired && !is_of_earlier_build && self.revoked_at_ms.is_none() && self.became.is_none()
    }
}

impl GrantKind {
    /// Returns the player's seat that it is for.
    #[must_use]
    pub const fn seat(self) -> Option<Seat> {
        match self {
            Self::Seat(seat) | Self::Player(seat) | Self::Invitation(seat) => Some(seat),
            Self::Host | Self::Spectator { .. } => None,
        }
    }

    /// Returns the seat that its holder plays.
    #[must_use]
    pub const fn played(self) -> Option<Seat> {
        match self {
            Self::Seat(seat) | Self::Player(seat) => Some(seat),
            Self::Host | Self::Spectator { .. } | Self::Invitation(_) => None,
        }
    }
}

impl GrantId {
    /// Returns what the grant of a token with this hash is called.
    #[must_use]
    pub fn of(hash: &Digest) -> Self {
        Self(hash.as_bytes().iter().take(8).fold(0, |id, byte| id << 8 | u64::from(*byte)))
    }
}

impl fmt::Display for GrantId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:016x}", self.0)
    }
}

impl FromStr for GrantId {
    type Err = NotAGrantId;

    fn from_str(text: &str) -> Result<Self, NotAGrantId> {
        // The digits of a digest that begins with them.
        let digest = (text.len() == 16).then(|| format!("{text:0<64}").parse::<Digest>().ok()).flatten();
        digest.map(|digest| Self::of(&digest)).ok_or_else(|| NotAGrantId { found: text.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_the_first_digits_of_the_hash() {
        let hash = Digest::new(std::array::from_fn(|place| 0xa0 + u8::try_from(place).unwrap()));
        let id = GrantId::of(&hash);
        assert_eq!(id.to_string(), format!("{hash:.16}"));
        assert_eq!(id.to_string().parse(), Ok(id));
        for text in ["", "a0a1a2a3a4a5a6a", "a0a1a2a3a4a5a6a7a", "A0a1a2a3a4a5a6a7", "a0a1a2a3a4a5a6ä"] {
            assert!(text.parse::<GrantId>().is_err(), "{text}");
        }
    }
}
