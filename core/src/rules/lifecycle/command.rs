//! What a seat may say, and how it is written.

use core::fmt;
use core::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::admission::Issuer;
use crate::text::{Id, Malformed, split_verb};
use crate::ticks::Ticks;

/// An input of the match. The variant order is part of the log format.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Command {
    /// LC-3: lets at most this number of ticks pass.
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

impl Command {
    pub(super) const fn issuer(&self) -> Issuer {
        match self {
            Self::Tick(_) | Self::Advance => Issuer::Host,
            Self::Move | Self::Attack(_) | Self::Skill { .. } | Self::End => Issuer::Player,
        }
    }
}

impl fmt::Display for Command {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tick(Ticks::ONE) => out.write_str("tick"),
            Self::Tick(ticks) => write!(out, "tick {ticks}"),
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
            ("tick", Some(ticks)) => ticks.parse().map(Self::Tick),
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
