//! The commands of players and the host, and their text.

use serde::{Deserialize, Serialize};

use turnfold_core::prelude::*;

/// A command of the match. The order of the variants is part of the log format.
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
        /// The unit it is used on.
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

commands! {
    Command, "`tick [N]`, `advance`, `move`, `attack UNIT`, `skill ID [UNIT]` or `end`";
    "tick" => Command::Tick(ticks or Ticks::ONE),
    "advance" => Command::Advance,
    "move" => Command::Move,
    "attack" => Command::Attack(unit),
    "skill" => Command::Skill { skill, target or None },
    "end" => Command::End,
}
