//! What a seat may say, and how it is written.

use core::fmt;
use core::str::FromStr;

use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

use crate::admission::Issuer;
use crate::hex::Direction;
use crate::text::{Malformed, number, split_verb};
use crate::ticks::Ticks;

/// An input of the match. The variant order is part of the log format.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Command {
    /// HC-2: moves the cursor.
    Move(Direction),
    /// HC-3: moves the cursor by joystick.
    Stick(Direction),
    /// HC-4: presses the action.
    Act,
    /// HC-5: lets the action go.
    Release,
    /// HC-7: eats the carried hex.
    Eat,
    /// HC-8: turns from the world to the inventory, or back.
    Toggle,
    /// Lets time pass.
    Tick(Ticks),
    /// HC-7, HC-14: the value a capture or a meal waits for.
    Roll(#[serde(deserialize_with = "crate::dice::some_values")] Vec<i32>),
}

impl Command {
    pub(super) const fn issuer(&self) -> Issuer {
        match self {
            Self::Tick(_) | Self::Roll(_) => Issuer::Host,
            _ => Issuer::Player,
        }
    }
}

impl fmt::Display for Command {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Move(direction) => write!(out, "move {direction}"),
            Self::Stick(direction) => write!(out, "stick {direction}"),
            Self::Act => out.write_str("act"),
            Self::Release => out.write_str("release"),
            Self::Eat => out.write_str("eat"),
            Self::Toggle => out.write_str("toggle"),
            Self::Tick(Ticks::ONE) => out.write_str("tick"),
            Self::Tick(ticks) => write!(out, "tick {ticks}"),
            Self::Roll(values) => {
                out.write_str("roll")?;
                values.iter().try_for_each(|value| write!(out, " {value}"))
            }
        }
    }
}

impl FromStr for Command {
    type Err = Malformed;

    fn from_str(text: &str) -> Result<Self, Malformed> {
        match split_verb(text) {
            ("move", Some(direction)) => direction.parse().map(Self::Move),
            ("stick", Some(direction)) => direction.parse().map(Self::Stick),
            ("act", None) => Ok(Self::Act),
            ("release", None) => Ok(Self::Release),
            ("eat", None) => Ok(Self::Eat),
            ("toggle", None) => Ok(Self::Toggle),
            ("tick", None) => Ok(Self::Tick(Ticks::ONE)),
            ("tick", Some(count)) => count.parse().map(Self::Tick),
            ("roll", Some(values)) => values.split(' ').map(number).collect::<Result<_, _>>().map(Self::Roll),
            _ => Err(Malformed::expected(
                "`move DIR`, `stick DIR`, `act`, `release`, `eat`, `toggle`, `tick`, `tick N` or `roll V`",
                text,
            )),
        }
    }
}
