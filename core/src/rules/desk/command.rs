//! The commands of players and the host at the desk, and their text (PM-8).

use core::fmt;
use core::str::FromStr;

use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::admission::Issuer;
use crate::digest::Digest;
use crate::names::BranchName;
use crate::paper::{
    DeskTime, Ending, PLAYS_MAX, Paper, PaperLine, PlainPaper, Player, SignedPaper, read_seats, write_seats,
};
use crate::seat::Seat;
use crate::text::{Malformed, number, split_verb, stored_as_text};

/// An input of the desk. The variant order is part of the log format.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Command {
    /// PM-10: a player's paper. Its mail form (PM-6) is read before it comes here (PM-7).
    Paper(Box<SignedPaper>),
    /// PM-12: the host's clock moves on.
    Clock(DeskTime),
    /// PM-13: a turn begins at a position of the game.
    Stand {
        /// The branch of the game.
        branch: BranchName,
        /// The last entry of the game there.
        seq: u64,
        /// The link after that entry.
        link: Digest,
        /// The hash of the game's state there, unless a part of an entry is still concealed.
        state: Option<Digest>,
        /// PM-14: the seats that are asked.
        seats: AskedSeats,
    },
    /// PM-19: an order was carried out.
    Carried {
        /// The digest of the order.
        digest: Digest,
        /// How many of its commands were played.
        count: PlayCount,
    },
    /// PM-19: the game rejects an order.
    Refused {
        /// The digest of the order.
        digest: Digest,
        /// The game's code.
        code: RefusalCode,
    },
    /// FD-10 of `dice.md`: a roll was made in the game.
    Rolled {
        /// The number of the roll.
        number: u32,
        /// The element that the host opens for it.
        element: Digest,
        /// The branch of its entry.
        branch: BranchName,
        /// The number of its entry.
        seq: u64,
    },
    /// PM-21: the host moves the deadline.
    Extend {
        /// The new deadline.
        until: DeskTime,
        /// The reason.
        grounds: Grounds,
    },
    /// PM-21: the host ends the match.
    Close {
        /// How it ends.
        result: Ending,
        /// The reason.
        grounds: Grounds,
    },
    /// PM-38: what a player without a key sent, as the host recorded it.
    Plain(Box<PlainPaper>),
    /// PM-40: a reminder, this many hours before the deadline.
    Remind(u16),
    /// PM-60: the host alone gives a seat to another player.
    Replace {
        /// The seat.
        seat: Seat,
        /// The new player.
        player: Player,
        /// The reason.
        grounds: Grounds,
    },
}

impl Command {
    /// Returns its bytes in the log.
    ///
    /// # Panics
    /// Never: plain data encodes.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        postcard::to_allocvec(self).expect("plain data encodes")
    }

    pub(super) const fn issuer(&self) -> Issuer {
        match self {
            Self::Paper(paper) => Issuer::Seat(paper.paper().head().seat),
            Self::Plain(plain) => Issuer::Seat(plain.paper().head().seat),
            _ => Issuer::Host,
        }
    }

    /// Returns the paper, signed or plain, if the command has one.
    #[must_use]
    pub const fn paper(&self) -> Option<&Paper> {
        match self {
            Self::Paper(signed) => Some(signed.paper()),
            Self::Plain(plain) => Some(plain.paper()),
            _ => None,
        }
    }
}

impl fmt::Display for Command {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Paper(paper) => write!(out, "paper {paper}"),
            Self::Clock(time) => write!(out, "clock {time}"),
            Self::Stand { branch, seq, link, state, seats } => {
                write!(out, "stand {branch} {seq} {link} ")?;
                match state {
                    Some(state) => write!(out, "{state}")?,
                    None => out.write_str("-")?,
                }
                write!(out, " {seats}")
            }
            Self::Carried { digest, count } => write!(out, "carried {digest} {}", count.0),
            Self::Refused { digest, code } => write!(out, "refused {digest} {}", code.0),
            Self::Rolled { number, element, branch, seq } => {
                write!(out, "rolled {number} {element} {branch} {seq}")
            }
            Self::Extend { until, grounds } => write!(out, "extend {until} {}", grounds.0),
            Self::Close { result, grounds } => write!(out, "close {result} {}", grounds.0),
            Self::Plain(plain) => write!(out, "plain {plain}"),
            Self::Remind(hours) => write!(out, "remind {hours}"),
            Self::Replace { seat, player, grounds } => {
                write!(out, "replace {seat} {player} {}", grounds.0)
            }
        }
    }
}

impl FromStr for Command {
    type Err = Malformed;

    fn from_str(text: &str) -> Result<Self, Malformed> {
        let (verb, Some(rest)) = split_verb(text) else { return Err(unknown(text)) };
        match verb {
            "paper" => Ok(Self::Paper(Box::new(rest.parse()?))),
            "clock" => Ok(Self::Clock(rest.parse()?)),
            "stand" => {
                let [branch, seq, after, state, seats] = words(rest).ok_or_else(|| unknown(text))?;
                let state = if state == "-" { None } else { Some(Digest::read(state)?) };
                let branch = branch.parse()?;
                let seq = number(seq)?;
                Ok(Self::Stand { branch, seq, seats: seats.parse()?, link: Digest::read(after)?, state })
            }
            "carried" => {
                let [order, count] = words(rest).ok_or_else(|| unknown(text))?;
                let count = number::<u16>(count)?.try_into()?;
                Ok(Self::Carried { digest: Digest::read(order)?, count })
            }
            "refused" => {
                let [order, code] = words(rest).ok_or_else(|| unknown(text))?;
                Ok(Self::Refused { digest: Digest::read(order)?, code: code.to_string().try_into()? })
            }
            "rolled" => {
                let [count, element, branch, seq] = words(rest).ok_or_else(|| unknown(text))?;
                let branch = branch.parse()?;
                let seq = number(seq)?;
                Ok(Self::Rolled { number: number(count)?, element: Digest::read(element)?, branch, seq })
            }
            "extend" => {
                let (until, grounds) = rest.split_once(' ').ok_or_else(|| unknown(text))?;
                Ok(Self::Extend { until: until.parse()?, grounds: grounds.to_string().try_into()? })
            }
            "close" => {
                let (result, grounds) = rest.split_once(' ').ok_or_else(|| unknown(text))?;
                Ok(Self::Close { result: result.parse()?, grounds: grounds.to_string().try_into()? })
            }
            "plain" => Ok(Self::Plain(Box::new(rest.parse()?))),
            "remind" => Ok(Self::Remind(number(rest)?)),
            "replace" => {
                let parts: Vec<&str> = rest.splitn(4, ' ').collect();
                let [seat, name, key, grounds] = parts.as_slice() else { return Err(unknown(text)) };
                let seat = match seat.parse() {
                    Ok(seat) if seat != Seat::Host => seat,
                    _ => return Err(unknown(text)),
                };
                let player = Player::read(name, key)?;
                Ok(Self::Replace { seat, player, grounds: grounds.to_string().try_into()? })
            }
            _ => Err(unknown(text)),
        }
    }
}

fn unknown(text: &str) -> Malformed {
    let forms = "`paper LINES`, `clock TIME`, `stand BRANCH SEQ LINK STATE SEATS`, `carried DIGEST COUNT`, \
                 `refused DIGEST CODE`, `rolled K ELEMENT BRANCH SEQ`, `extend TIME REASON`, `close RESULT REASON`, \
                 `plain LINES`, `remind HOURS` or `replace SEAT NAME KEY REASON`";
    Malformed::expected(forms, text)
}

/// Splits a text into exactly `COUNT` words.
fn words<const COUNT: usize>(text: &str) -> Option<[&str; COUNT]> {
    text.split(' ').collect::<Vec<_>>().try_into().ok()
}

/// The seats that a position asks, in order: `p1,p2`, or `none`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct AskedSeats(Vec<Seat>);

impl AskedSeats {
    /// Returns the seats.
    #[must_use]
    pub fn as_slice(&self) -> &[Seat] {
        &self.0
    }
}

impl fmt::Display for AskedSeats {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_seats(&self.0, "none", out)
    }
}

impl FromStr for AskedSeats {
    type Err = Malformed;

    fn from_str(text: &str) -> Result<Self, Malformed> {
        match read_seats(text, "none") {
            Some(seats) => Ok(Self(seats)),
            None => Err(Malformed::expected("seats in order, such as `p1,p2`, or `none`", text)),
        }
    }
}

stored_as_text!(AskedSeats);

/// A number of commands of an order, 1..=500.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "u16", into = "u16")]
pub struct PlayCount(u16);

impl TryFrom<u16> for PlayCount {
    type Error = Malformed;

    fn try_from(count: u16) -> Result<Self, Malformed> {
        if (1..=PLAYS_MAX).contains(&usize::from(count)) {
            return Ok(Self(count));
        }
        Err(Malformed(format!("expected 1 to {PLAYS_MAX} commands, found {count}")))
    }
}

impl From<PlayCount> for u16 {
    fn from(count: PlayCount) -> Self {
        count.0
    }
}

/// The code with which the game rejects a command: `[a-z][a-z0-9_]{0,63}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RefusalCode(String);

impl TryFrom<String> for RefusalCode {
    type Error = Malformed;

    fn try_from(text: String) -> Result<Self, Malformed> {
        let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
        let is_code = text.len() <= 64
            && text.starts_with(|first: char| first.is_ascii_lowercase())
            && text.bytes().all(is_plain);
        if is_code {
            return Ok(Self(text));
        }
        Err(Malformed::expected("the code of a rejection such as `not_your_turn`", &text))
    }
}

impl From<RefusalCode> for String {
    fn from(code: RefusalCode) -> Self {
        code.0
    }
}

/// The reason for a decision of the host: 1 to 200 characters in the alphabet of papers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Grounds(PaperLine);

impl TryFrom<String> for Grounds {
    type Error = Malformed;

    fn try_from(text: String) -> Result<Self, Malformed> {
        if text.len() > 200 {
            return Err(Malformed(format!("expected a reason of 1 to 200 characters, found {}", text.len())));
        }
        Ok(Self(text.parse()?))
    }
}

impl From<Grounds> for String {
    fn from(grounds: Grounds) -> Self {
        grounds.0.into()
    }
}
