//! What a seat may offer to the others (PM-4, PM-20).

use core::fmt;
use core::str::FromStr;

use serde::{Deserialize, Serialize};

use super::time::DeskTime;
use super::values::{LineName, Player};
use crate::seat::Seat;
use crate::text::{Malformed, number};

/// What takes effect once the living seats agree. The variant order is part of the log format.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Offer {
    /// The game goes on from an earlier stand: `takeback LINE SEQ`.
    Takeback {
        /// The line of that stand.
        line: LineName,
        /// The entry after which it stood.
        seq: u64,
    },
    /// The match ends: `end draw`, `end void` or `end pN`.
    End(Ending),
    /// The deadline moves: `extend TIME`.
    Extend(DeskTime),
    /// Another player takes a seat: `replace SEAT NAME KEY`, or `-` for KEY.
    Replace {
        /// Which seat.
        seat: Seat,
        /// The new player.
        player: Player,
    },
}

impl fmt::Display for Offer {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Takeback { line, seq } => write!(out, "takeback {line} {seq}"),
            Self::End(ending) => write!(out, "end {ending}"),
            Self::Extend(time) => write!(out, "extend {time}"),
            Self::Replace { seat, player } => write!(out, "replace {seat} {player}"),
        }
    }
}

impl FromStr for Offer {
    type Err = Malformed;

    fn from_str(text: &str) -> Result<Self, Malformed> {
        let mut words = text.splitn(4, ' ');
        let four = (words.next().unwrap_or_default(), words.next(), words.next(), words.next());
        match four {
            ("takeback", Some(line), Some(seq), None) => {
                Ok(Self::Takeback { line: line.parse()?, seq: number(seq)? })
            }
            ("end", Some(ending), None, None) => ending.parse().map(Self::End),
            ("extend", Some(time), None, None) => time.parse().map(Self::Extend),
            ("replace", Some(seat), Some(name), Some(key)) => {
                Ok(Self::Replace { seat: player(seat)?, player: Player::read(name, key)? })
            }
            _ => Err(Malformed::expected(
                "`takeback LINE SEQ`, `end draw`, `end void`, `end SEAT`, `extend TIME` or `replace SEAT NAME KEY`",
                text,
            )),
        }
    }
}

/// Reads the seat of a player.
pub(super) fn player(word: &str) -> Result<Seat, Malformed> {
    let seat = word.parse().ok().filter(|seat| *seat != Seat::Host);
    seat.ok_or_else(|| Malformed::expected("a seat from `p1` to `p16`", word))
}

/// How a match ends by consent or by the host. The variant order is part of the log format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "EndingWord", try_from = "EndingWord")]
pub enum Ending {
    /// No seat wins.
    Draw,
    /// It does not count.
    Void,
    /// This player wins.
    Won(Seat),
}

/// An ending in the log: `Won` has a player.
#[derive(Clone, Copy, Serialize, Deserialize)]
enum EndingWord {
    Draw,
    Void,
    Won(Seat),
}

impl From<Ending> for EndingWord {
    fn from(ending: Ending) -> Self {
        match ending {
            Ending::Draw => Self::Draw,
            Ending::Void => Self::Void,
            Ending::Won(seat) => Self::Won(seat),
        }
    }
}

impl TryFrom<EndingWord> for Ending {
    type Error = Malformed;

    fn try_from(word: EndingWord) -> Result<Self, Malformed> {
        match word {
            EndingWord::Draw => Ok(Self::Draw),
            EndingWord::Void => Ok(Self::Void),
            EndingWord::Won(seat) => player(seat.name()).map(Self::Won),
        }
    }
}

impl fmt::Display for Ending {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Draw => out.write_str("draw"),
            Self::Void => out.write_str("void"),
            Self::Won(seat) => seat.fmt(out),
        }
    }
}

impl FromStr for Ending {
    type Err = Malformed;

    fn from_str(word: &str) -> Result<Self, Malformed> {
        match word {
            "draw" => Ok(Self::Draw),
            "void" => Ok(Self::Void),
            _ => player(word)
                .map(Self::Won)
                .map_err(|_| Malformed::expected("`draw`, `void` or a seat from `p1` to `p16`", word)),
        }
    }
}
