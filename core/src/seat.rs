//! Seats, which issue commands: of players and of the table itself. And viewers.

use core::cmp::Ordering;
use core::fmt;
use core::str::FromStr;

use alloc::string::String;
use serde::{Deserialize, Serialize};

/// A seat at the table. The order is the order of play lists: `p1` … `p16`, then `host`.
///
/// The variant order is part of the log format: `host` was the ninth before there were more than eight players.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
    /// The ninth player.
    P9,
    /// The tenth player.
    P10,
    /// The eleventh player.
    P11,
    /// The twelfth player.
    P12,
    /// The thirteenth player.
    P13,
    /// The fourteenth player.
    P14,
    /// The fifteenth player.
    P15,
    /// The sixteenth player.
    P16,
}

impl Seat {
    /// Every seat, in order.
    pub const ALL: [Self; 17] = [
        Self::P1,
        Self::P2,
        Self::P3,
        Self::P4,
        Self::P5,
        Self::P6,
        Self::P7,
        Self::P8,
        Self::P9,
        Self::P10,
        Self::P11,
        Self::P12,
        Self::P13,
        Self::P14,
        Self::P15,
        Self::P16,
        Self::Host,
    ];

    /// Returns the first `count` players' seats, all sixteen for more.
    #[must_use]
    pub fn players(count: usize) -> &'static [Self] {
        static PLAYERS: &[Seat] = Seat::ALL.split_at(16).0;
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
            Self::P9 => "p9",
            Self::P10 => "p10",
            Self::P11 => "p11",
            Self::P12 => "p12",
            Self::P13 => "p13",
            Self::P14 => "p14",
            Self::P15 => "p15",
            Self::P16 => "p16",
            Self::Host => "host",
        }
    }

    /// Returns the seat as the subject of a sentence for a reader: `You`, `p2` or `The host`.
    #[must_use]
    pub fn as_subject(self, reader: Perspective) -> &'static str {
        match self {
            Self::Host => "The host",
            own if reader.is_seat(own) => "You",
            other => other.name(),
        }
    }

    /// Returns the place in the order of seats, which differs from that of the log format.
    const fn place(self) -> u8 {
        match self {
            Self::Host => u8::MAX,
            player => player as u8,
        }
    }
}

impl Ord for Seat {
    fn cmp(&self, other: &Self) -> Ordering {
        self.place().cmp(&other.place())
    }
}

impl PartialOrd for Seat {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Seat {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.name())
    }
}

/// A word that names no seat.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown seat `{0}`: seats are `p1` to `p16` and `host`")]
pub struct UnknownSeat(String);

impl FromStr for Seat {
    type Err = UnknownSeat;

    fn from_str(word: &str) -> Result<Self, UnknownSeat> {
        Self::ALL.into_iter().find(|seat| seat.name() == word).ok_or_else(|| UnknownSeat(word.into()))
    }
}

/// A viewer of a match: a seat, which may be the host's, or a spectator, who has none.
///
/// A seat that the match does not have sees it like a spectator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Perspective {
    /// A seat.
    Seat(Seat),
    /// A viewer without a seat, who may only know what all players may know.
    Spectator,
}

impl Perspective {
    /// The host, from whom nothing is concealed.
    pub const HOST: Self = Self::Seat(Seat::Host);

    /// Returns `true` if this seat is the viewer.
    #[must_use]
    pub fn is_seat(self, seat: Seat) -> bool {
        self == Self::Seat(seat)
    }

    /// Returns `true` if the viewer may know what only this seat may know: it is the seat or the host.
    #[must_use]
    pub fn may_know_as(self, seat: Seat) -> bool {
        self.is_seat(seat) || self == Self::HOST
    }

    /// Returns the viewer's seat, if there is one.
    #[must_use]
    pub const fn seat(self) -> Option<Seat> {
        match self {
            Self::Seat(seat) => Some(seat),
            Self::Spectator => None,
        }
    }
}

impl From<Seat> for Perspective {
    fn from(seat: Seat) -> Self {
        Self::Seat(seat)
    }
}

impl fmt::Display for Perspective {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.seat().map_or("spectator", Seat::name))
    }
}

/// A word that names no viewer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown viewer `{0}`: viewers are `p1` to `p16`, `host` and `spectator`")]
pub struct UnknownViewer(String);

impl FromStr for Perspective {
    type Err = UnknownViewer;

    fn from_str(word: &str) -> Result<Self, UnknownViewer> {
        match word {
            "spectator" => Ok(Self::Spectator),
            word => word.parse().map(Self::Seat).map_err(|UnknownSeat(word)| UnknownViewer(word)),
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;

    #[test]
    fn stored_seats_keep_their_numbers_and_those_of_later_players_follow_the_host() {
        let numbers = Seat::ALL.map(|seat| postcard::to_allocvec(&seat).unwrap());
        let expected = [0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13, 14, 15, 16, 8].map(|number| vec![number]);
        assert_eq!(numbers, expected);
        assert!(postcard::from_bytes::<Seat>(&[17]).is_err());
    }

    #[test]
    fn the_host_comes_after_every_player() {
        assert!(Seat::ALL.is_sorted());
        assert_eq!(Seat::players(17), &Seat::ALL[..16]);
        assert_eq!(Seat::players(2), [Seat::P1, Seat::P2]);
        for seat in Seat::ALL {
            assert_eq!(seat.name().parse(), Ok(seat));
            assert_eq!(seat.name().parse(), Ok(Perspective::Seat(seat)));
        }
        assert_eq!("spectator".parse(), Ok(Perspective::Spectator));
        assert!("spectator".parse::<Seat>().is_err());
    }
}
