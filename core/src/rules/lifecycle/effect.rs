//! What happens, one line each.

use core::fmt;

use serde::Serialize;

use super::team::Team;
use crate::text::{Id, OrNone};

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "effect", rename_all = "snake_case")]
#[expect(missing_docs, reason = "the fields are named as in the ruling and typed")]
pub enum Effect {
    /// LC-3: this number of ticks passed.
    Ticked { ticks: u64 },
    /// LC-14: a turn starts.
    TurnChange { previous: Option<Id>, next: Id, is_new_round: bool },
    /// LC-6: the active unit has its action points.
    ApSet { ap: u32 },
    /// LC-7: a skill of the active unit is that much nearer to being used again.
    Cooldown { skill: Id, left: u32 },
    /// LC-8: a status took or gave hit points.
    StatusTicked { unit: Id, status: Id, amount: u32 },
    /// LC-8: a status is over.
    StatusExpired { unit: Id, status: Id },
    /// LC-10: a unit bears a status, new or renewed.
    StatusGained { unit: Id, status: Id },
    /// LC-9: a unit may not act.
    Stunned { unit: Id },
    /// LC-11: the active unit moved.
    Moved,
    /// LC-11: a unit used a skill.
    SkillUsed { unit: Id, skill: Id, target: Id },
    /// LC-11: an attack or a skill took hit points.
    Damaged { unit: Id, amount: u32, hp: u32 },
    /// LC-11: a skill gave hit points back.
    Healed { unit: Id, amount: u32, hp: u32 },
    /// LC-8, LC-11: a unit is dead.
    Died { unit: Id },
    /// LC-12: a turn is over; this is the charge that is left.
    TurnEnded { unit: Id, charge: u64 },
    /// LC-13: the match is decided.
    MatchOver { winner: Team },
}

impl fmt::Display for Effect {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ticked { ticks } => write!(out, "ticked ticks={ticks}"),
            Self::TurnChange { previous, next, is_new_round } => {
                let previous = OrNone(previous.as_ref());
                write!(out, "turn_change previous={previous} next={next} is_new_round={is_new_round}")
            }
            Self::ApSet { ap } => write!(out, "ap_set ap={ap}"),
            Self::Cooldown { skill, left } => write!(out, "cooldown skill={skill} left={left}"),
            Self::StatusTicked { unit, status, amount } => {
                write!(out, "status_ticked unit={unit} status={status} amount={amount}")
            }
            Self::StatusExpired { unit, status } => write!(out, "status_expired unit={unit} status={status}"),
            Self::StatusGained { unit, status } => write!(out, "status_gained unit={unit} status={status}"),
            Self::Stunned { unit } => write!(out, "stunned unit={unit}"),
            Self::Moved => out.write_str("moved"),
            Self::SkillUsed { unit, skill, target } => {
                write!(out, "skill_used unit={unit} skill={skill} target={target}")
            }
            Self::Damaged { unit, amount, hp } => write!(out, "damaged unit={unit} amount={amount} hp={hp}"),
            Self::Healed { unit, amount, hp } => write!(out, "healed unit={unit} amount={amount} hp={hp}"),
            Self::Died { unit } => write!(out, "died unit={unit}"),
            Self::TurnEnded { unit, charge } => write!(out, "turn_ended unit={unit} charge={charge}"),
            Self::MatchOver { winner } => write!(out, "match_over winner={winner}"),
        }
    }
}
