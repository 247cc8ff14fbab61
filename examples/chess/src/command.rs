//! What a seat may say, and how it is written.

use std::fmt;
use std::str::FromStr;

use cozy_chess::util::parse_san_move;
use cozy_chess::{Board, Move};
use serde::{Deserialize, Serialize};
use turnfold_core::{Malformed, Ticks};

use crate::position::standard;

/// An input of the match. The variant order is part of the log format.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Command {
    /// CS-2: moves a piece.
    Move(MoveText),
    /// CS-5: offers a draw.
    Offer,
    /// CS-5: accepts the offer.
    Accept,
    /// CS-5: refuses the offer.
    Decline,
    /// CS-6: gives up.
    Resign,
    /// CS-7: lets time pass.
    Tick(Ticks),
}

/// CS-2: a move as people write it, such as `e2e4` or `e7e8q`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct MoveText(pub Move);

impl From<MoveText> for String {
    fn from(text: MoveText) -> Self {
        text.0.to_string()
    }
}

impl TryFrom<String> for MoveText {
    type Error = Malformed;

    fn try_from(text: String) -> Result<Self, Malformed> {
        let read = text.parse::<Move>().ok().filter(|chosen| chosen.to_string() == text);
        let expected = "a move such as `e2e4` or `e7e8q`, `offer`, `accept`, `decline`, `resign` or `tick N`";
        read.map(Self).ok_or_else(|| Malformed::expected(expected, &text))
    }
}

impl fmt::Display for Command {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Move(MoveText(chosen)) => chosen.fmt(out),
            Self::Offer => out.write_str("offer"),
            Self::Accept => out.write_str("accept"),
            Self::Decline => out.write_str("decline"),
            Self::Resign => out.write_str("resign"),
            Self::Tick(ticks) => write!(out, "tick {ticks}"),
        }
    }
}

impl FromStr for Command {
    type Err = Malformed;

    fn from_str(text: &str) -> Result<Self, Malformed> {
        match text {
            "offer" => Ok(Self::Offer),
            "accept" => Ok(Self::Accept),
            "decline" => Ok(Self::Decline),
            "resign" => Ok(Self::Resign),
            _ => match text.strip_prefix("tick ") {
                Some(ticks) => ticks.parse().map(Self::Tick),
                None => text.to_owned().try_into().map(Self::Move),
            },
        }
    }
}

impl Command {
    /// CS-2: reads a command, which may be a move in Standard Algebraic Notation on this board.
    ///
    /// # Errors
    /// [`Malformed`] for a text that is neither.
    pub fn read(board: &Board, text: &str) -> Result<Self, Malformed> {
        let san = |malformed| match parse_san_move(board, text) {
            Ok(found) => Ok(Self::Move(MoveText(standard(board, found)))),
            Err(_) => Err(malformed),
        };
        text.parse().or_else(san)
    }
}
