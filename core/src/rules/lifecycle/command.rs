//! What a seat may say, and how it is written.

use core::fmt;
use core::str::FromStr;

use serde::{Deserialize, Serialize};

use super::state::State;
use crate::outcome::Issuer;
use crate::seat::Seat;
use crate::text::{Id, Malformed, number, split_verb};

/// An input of the match. The variant order is part of the log format.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Command {
    /// LC-3: lets at most so many ticks pass.
    Tick(Ticks),
    /// LC-3: lets time pass until a turn starts.
    Advance,
    /// LC-11: moves the active unit.
    Move,
    /// LC-11: attacks a unit.
    Attack(Id),
    /// LC-11: uses a skill, on a unit if the skill takes one.
    Skill {
        /// The skill.
        skill: Id,
        /// Whom it is used on.
        target: Option<Id>,
    },
    /// LC-12: ends the turn of the active unit.
    End,
}

/// A number of ticks, `1..=100_000`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "u32", into = "u32")]
pub struct Ticks(u32);

impl Ticks {
    /// A single tick, which commands need not write out.
    pub const ONE: Self = Self(1);

    /// Gives the number.
    #[must_use]
    pub const fn get(self) -> u32 {
        self.0
    }
}

impl TryFrom<u32> for Ticks {
    type Error = Malformed;

    fn try_from(ticks: u32) -> Result<Self, Malformed> {
        match ticks {
            1..=100_000 => Ok(Self(ticks)),
            _ => Err(Malformed(alloc::format!("expected 1 to 100000 ticks, found {ticks}"))),
        }
    }
}

impl From<Ticks> for u32 {
    fn from(ticks: Ticks) -> Self {
        ticks.0
    }
}

impl Command {
    pub(super) const fn issuer(&self) -> Issuer {
        match self {
            Self::Tick(_) | Self::Advance => Issuer::Host,
            Self::Move | Self::Attack(_) | Self::Skill { .. } | Self::End => Issuer::Player,
        }
    }

    /// Host commands are the host's; the others the active unit's player's, or p1's when nobody is active.
    pub(super) fn default_seat(&self, state: &State) -> Seat {
        match self.issuer() {
            Issuer::Host => Seat::Host,
            Issuer::Player => state.active().map_or(Seat::P1, |active| active.unit.team.seat()),
        }
    }
}

impl fmt::Display for Command {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tick(Ticks::ONE) => out.write_str("tick"),
            Self::Tick(ticks) => write!(out, "tick {}", ticks.get()),
            Self::Advance => out.write_str("advance"),
            Self::Move => out.write_str("move"),
            Self::Attack(unit) => write!(out, "attack {unit}"),
            Self::Skill { skill, target: None } => write!(out, "skill {skill}"),
            Self::Skill { skill, target: Some(unit) } => write!(out, "skill {skill} {unit}"),
            Self::End => out.write_str("end"),
        }
    }
}

impl FromStr for Command {
    type Err = Malformed;

    fn from_str(text: &str) -> Result<Self, Malformed> {
        match split_verb(text) {
            ("tick", None) => Ok(Self::Tick(Ticks::ONE)),
            ("tick", Some(ticks)) => number::<u32>(ticks)?.try_into().map(Self::Tick),
            ("advance", None) => Ok(Self::Advance),
            ("move", None) => Ok(Self::Move),
            ("attack", Some(unit)) => unit.parse().map(Self::Attack),
            ("skill", Some(words)) => {
                let (skill, unit) = split_verb(words);
                let target = unit.map(str::parse).transpose()?;
                Ok(Self::Skill { skill: skill.parse()?, target })
            }
            ("end", None) => Ok(Self::End),
            _ => Err(Malformed::expected(
                "`tick [N]`, `advance`, `move`, `attack UNIT`, `skill ID [UNIT]` or `end`",
                text,
            )),
        }
    }
}
