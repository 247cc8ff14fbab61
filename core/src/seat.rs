//! Who issues a command: a player's seat or the table itself.

use core::fmt;
use core::str::FromStr;

use alloc::string::String;
use serde::{Deserialize, Serialize};

/// A seat at the table. The order is the order of play lists: `p1` … `p8`, then `host`.
///
/// The variant order is part of the log format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Seat {
    /// The first player.
    P1,
    /// The second player.
    P2,
    /// The third player.
    P3,
    /// The fourth player.
    P4,
    /// The fifth player.
    P5,
    /// The sixth player.
    P6,
    /// The seventh player.
    P7,
    /// The eighth player.
    P8,
    /// The table itself: clock ticks, dice, resolution.
    Host,
}

impl Seat {
    /// Every seat there is, in order.
    pub const ALL: [Self; 9] =
        [Self::P1, Self::P2, Self::P3, Self::P4, Self::P5, Self::P6, Self::P7, Self::P8, Self::Host];

    /// Returns the first `count` players' seats, all eight for more.
    #[must_use]
    pub fn players(count: usize) -> &'static [Self] {
        const PLAYERS: &[Seat] =
            &[Seat::P1, Seat::P2, Seat::P3, Seat::P4, Seat::P5, Seat::P6, Seat::P7, Seat::P8];
        PLAYERS.get(..count).unwrap_or(PLAYERS)
    }

    /// Returns the seat's name as commands and logs write it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::P1 => "p1",
            Self::P2 => "p2",
            Self::P3 => "p3",
            Self::P4 => "p4",
            Self::P5 => "p5",
            Self::P6 => "p6",
            Self::P7 => "p7",
            Self::P8 => "p8",
            Self::Host => "host",
        }
    }
}

impl fmt::Display for Seat {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.name())
    }
}

/// A word that names no seat.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown seat `{0}`: seats are `p1` to `p8` and `host`")]
pub struct UnknownSeat(String);

impl FromStr for Seat {
    type Err = UnknownSeat;

    fn from_str(word: &str) -> Result<Self, UnknownSeat> {
        Self::ALL.into_iter().find(|seat| seat.name() == word).ok_or_else(|| UnknownSeat(word.into()))
    }
}
