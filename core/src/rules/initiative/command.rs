//! What a seat may say, and how it is written.

use core::fmt;
use core::str::FromStr;

use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

use crate::admission::Issuer;
use crate::hex::Hex;
use crate::text::{Malformed, number, split_verb};

/// An input of the match. The variant order is part of the log format.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Command {
    /// IN-1: p1's two dice, then p2's two.
    Roll(#[serde(deserialize_with = "crate::dice::some_values")] Vec<i32>),
    /// IN-7: puts the cursor on the next selectable unit.
    Cycle,
    /// IN-8: selects the unit under the cursor.
    Confirm,
    /// IN-9: puts the cursor on a hex and selects the unit there.
    Click(Hex),
    /// IN-10: drops the selection.
    Cancel,
    /// IN-11: moves the selected unit.
    Move(Hex),
    /// IN-12: completes the selected unit's movement where it is.
    Stand,
    /// IN-5: starts the next turn.
    NextTurn,
}

impl Command {
    pub(super) const fn issuer(&self) -> Issuer {
        match self {
            Self::Roll(_) | Self::NextTurn => Issuer::Host,
            _ => Issuer::Player,
        }
    }
}

impl fmt::Display for Command {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Roll(values) => {
                out.write_str("roll")?;
                values.iter().try_for_each(|value| write!(out, " {value}"))
            }
            Self::Cycle => out.write_str("cycle"),
            Self::Confirm => out.write_str("confirm"),
            Self::Click(hex) => write!(out, "click {hex}"),
            Self::Cancel => out.write_str("cancel"),
            Self::Move(hex) => write!(out, "move {hex}"),
            Self::Stand => out.write_str("stand"),
            Self::NextTurn => out.write_str("next-turn"),
        }
    }
}

impl FromStr for Command {
    type Err = Malformed;

    fn from_str(text: &str) -> Result<Self, Malformed> {
        match split_verb(text) {
            ("roll", Some(values)) => values.split(' ').map(number).collect::<Result<_, _>>().map(Self::Roll),
            ("cycle", None) => Ok(Self::Cycle),
            ("confirm", None) => Ok(Self::Confirm),
            ("click", Some(hex)) => hex.parse().map(Self::Click),
            ("cancel", None) => Ok(Self::Cancel),
            ("move", Some(hex)) => hex.parse().map(Self::Move),
            ("stand", None) => Ok(Self::Stand),
            ("next-turn", None) => Ok(Self::NextTurn),
            _ => Err(Malformed::expected(
                "`roll A B C D`, `cycle`, `confirm`, `click Q,R`, `cancel`, `move Q,R`, `stand` or `next-turn`",
                text,
            )),
        }
    }
}
