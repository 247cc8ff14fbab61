//! Grants: access to a match by a token. Only the hash of the token is stored.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use turnfold_core::{Digest, Seat};

use crate::names::{GrantLabel, MatchName};

/// What the holder of a token may do with one match. The field order is the format.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    /// What the grant is for.
    pub kind: GrantKind,
    /// The match, under its current name.
    pub match_name: MatchName,
    /// The host's label for the grant. For a [`GrantKind::Player`], the name that all players see.
    pub label: GrantLabel,
    /// When it was made, in Unix milliseconds.
    pub created_at_ms: i64,
    /// When it expires, in Unix milliseconds; `None` for never.
    pub expires_at_ms: Option<i64>,
    /// When it was revoked, in Unix milliseconds.
    pub revoked_at_ms: Option<i64>,
    /// The hash of the seat's token that the invitation was spent for.
    pub became: Option<Digest>,
}

/// What a grant is for. The variant order is the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum GrantKind {
    /// Full control of the match.
    Host,
    /// A player's seat: its view and its commands.
    Seat(Seat),
    /// Watching as a spectator.
    Spectator {
        /// Zero. Earlier builds stored a delay here. A grant with a delay permits nothing, because a live view would
        /// show more.
        reserved: u64,
    },
    /// An invitation, which can be exchanged once for a grant of a player's seat.
    Invitation(Seat),
    /// Like [`Seat`](Self::Seat), for a player who joined under a name.
    Player(Seat),
    /// Reading the deadlines of a player in a calendar, for as long as the grant of the player's token counts.
    Calendar {
        /// The hash of the player's token.
        token: Digest,
    },
}

/// A grant to create.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewGrant {
    /// What the grant is for.
    pub kind: GrantKind,
    /// The match.
    pub match_name: MatchName,
    /// The host's label for the grant.
    pub label: GrantLabel,
    /// When it expires, in Unix milliseconds; `None` for never.
    pub expires_at_ms: Option<i64>,
}

/// The result of accepting an invitation: the grant of the seat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JoinedSeat {
    /// The invitation was spent.
    Now(Grant),
    /// The invitation had already been spent for the same token, and nothing changed. The grant may have been revoked
    /// since.
    Again(Grant),
}

/// The id of a grant: the first 16 hex digits of its token's hash.
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
    /// The most live grants of a match.
    pub const LIVE_MAX: usize = 1_000;

    /// The most live grants per seat of a match.
    pub const LIVE_MAX_PER_SEAT: usize = 8;

    /// Returns `true` if the grant is neither revoked, expired nor spent.
    #[must_use]
    pub fn is_live(&self, now_ms: i64) -> bool {
        let is_expired = self.expires_at_ms.is_some_and(|at| at <= now_ms);
        let is_of_earlier_build = matches!(self.kind, GrantKind::Spectator { reserved: 1.. });
        !is_expired && !is_of_earlier_build && self.revoked_at_ms.is_none() && self.became.is_none()
    }
}

impl GrantKind {
    /// Returns the player's seat that the grant is for.
    #[must_use]
    pub const fn seat(self) -> Option<Seat> {
        match self {
            Self::Seat(seat) | Self::Player(seat) | Self::Invitation(seat) => Some(seat),
            Self::Host | Self::Spectator { .. } | Self::Calendar { .. } => None,
        }
    }

    /// Returns the seat that the holder plays; `None` for an invitation.
    #[must_use]
    pub const fn played(self) -> Option<Seat> {
        match self {
            Self::Seat(seat) | Self::Player(seat) => Some(seat),
            Self::Host | Self::Spectator { .. } | Self::Invitation(_) | Self::Calendar { .. } => None,
        }
    }
}

impl GrantId {
    /// Returns the id of the grant whose token has this hash.
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
        // The text is parsed as the first digits of a digest.
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
