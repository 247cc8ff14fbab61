//! What ties a game to its desk: names, and the idempotency keys of the game's entries (PM-1, PM-2).

use std::fmt;
use std::str::FromStr;

use turnfold_core::text::{Malformed, number};
use turnfold_core::{Digest, Seat};
use turnfold_store::MatchName;

/// What the name of a desk ends in.
const DESK: &str = ".desk";

/// The desk of a game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeskOf {
    /// Its name.
    pub name: MatchName,
    /// The id of its match.
    pub match_id: [u8; 16],
}

impl DeskOf {
    /// Returns the desk of the game of this name and match id (PM-1).
    ///
    /// # Errors
    /// [`Malformed`] when the name has more than 59 characters.
    pub fn game(name: &MatchName, match_id: &[u8; 16]) -> Result<Self, Malformed> {
        let desk = Self::name_of(name)?;
        let hash = blake3::derive_key("turnfold v1 desk", match_id);
        let [match_id, _] = hash.as_chunks::<16>().0 else { unreachable!("32 bytes are twice 16") };
        Ok(Self { name: desk, match_id: *match_id })
    }

    /// Returns the name of the desk of the game of this name (PM-1).
    ///
    /// # Errors
    /// [`Malformed`] when the name has more than 59 characters.
    pub fn name_of(name: &MatchName) -> Result<MatchName, Malformed> {
        format!("{name}{DESK}").parse().map_err(|_| {
            Malformed::expected("the name of a match by mail, of at most 59 characters", name.as_str())
        })
    }

    /// Returns the name of the game whose desk has this name, if that is one of a desk.
    #[must_use]
    pub fn game_of(desk: &MatchName) -> Option<MatchName> {
        desk.as_str().strip_suffix(DESK)?.parse().ok()
    }
}

/// Why an entry of a game by mail is there: its idempotency key (PM-2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TurnKey {
    /// A command of an order, or a roll that it made due.
    Order {
        /// The tag of the paper.
        tag: Digest,
        /// The turn.
        turn: u32,
    },
    /// Played for a seat that missed.
    Missed {
        /// The turn.
        turn: u32,
        /// The player's seat.
        seat: Seat,
    },
    /// The host's own, or played for a seat that is gone.
    Host {
        /// The turn; 0 before the first.
        turn: u32,
    },
}

impl fmt::Display for TurnKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Order { tag, turn } => write!(out, "order:{tag}:{turn}"),
            Self::Missed { turn, seat } => write!(out, "turn:{turn}:{seat}"),
            Self::Host { turn } => write!(out, "turn:{turn}:{}", Seat::Host),
        }
    }
}

impl FromStr for TurnKey {
    type Err = Malformed;

    fn from_str(text: &str) -> Result<Self, Malformed> {
        let expected = || Malformed::expected("`order:TAG:TURN`, `turn:TURN:SEAT` or `turn:TURN:host`", text);
        let (kind, rest) = text.split_once(':').ok_or_else(expected)?;
        let (first, second) = rest.split_once(':').ok_or_else(expected)?;
        match kind {
            "order" => {
                let tag = first.parse().map_err(|_| expected())?;
                Ok(Self::Order { tag, turn: number(second)? })
            }
            "turn" => {
                let turn = number(first)?;
                Ok(match second.parse().map_err(|_| expected())? {
                    Seat::Host => Self::Host { turn },
                    seat => Self::Missed { turn, seat },
                })
            }
            _ => Err(expected()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pm_1_the_desk_has_a_name_and_an_id_of_its_own() {
        let desk = DeskOf::game(&"duel".parse().unwrap(), &[7; 16]).unwrap();
        assert_eq!(desk.name.as_str(), "duel.desk");
        assert_eq!(desk.match_id[..], blake3::derive_key("turnfold v1 desk", &[7; 16])[..16]);
        assert!(DeskOf::game(&"a".repeat(59).parse().unwrap(), &[7; 16]).is_ok());
        assert!(DeskOf::game(&"a".repeat(60).parse().unwrap(), &[7; 16]).is_err());
    }

    #[test]
    fn pm_2_keys_read_back_and_have_one_spelling() {
        let tag = Digest::new([9; 32]);
        for key in [
            TurnKey::Order { tag, turn: 12 },
            TurnKey::Missed { turn: 1, seat: Seat::P2 },
            TurnKey::Host { turn: 0 },
        ] {
            assert_eq!(key.to_string().parse(), Ok(key));
        }
        assert_eq!(TurnKey::Host { turn: 3 }.to_string(), "turn:3:host");
        for text in
            ["", "order:1", "turn:1", "turn:01:p1", "turn:1:p9", "turn:1:p1:", "order:09:1", "paper:1:p1"]
        {
            assert!(text.parse::<TurnKey>().is_err(), "{text}");
        }
    }
}
