//! Decides what a command would do now. Each rule about commands is checked here, once.

use alloc::vec::Vec;

use super::command::Command;
use super::race::{Lap, NO_LIMIT, Race};
use super::reason::{Reason, Rejection};
use super::skill::Target;
use super::state::{Active, State, UnitIndex};
use turnfold_core::prelude::*;

/// What to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan(pub(super) Step);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// The race after the lap, and the lap.
    Race(Race, Lap),
    Move,
    Attack {
        target: UnitIndex,
    },
    Skill {
        /// The skill's index among the skills of the active unit.
        skill: usize,
        target: UnitIndex,
    },
    End,
}

/// The cost of a move, and of an attack.
pub(super) const ACTION_AP: u32 = 1;

pub(super) fn decide(
    state: &State,
    seat: Seat,
    command: &Command,
) -> Result<Verdict<Plan, Reason>, Rejection> {
    let planned = match command {
        // LC-3: at most one turn starts, however many ticks pass.
        Command::Tick(ticks) => Ok(race(state, u64::from(ticks.get()))?),
        Command::Advance => Ok(race(state, NO_LIMIT)?),
        Command::Move => plan_move(&acting(state, seat)?),
        Command::Attack(target) => plan_attack(state, &acting(state, seat)?, target),
        Command::Skill { skill, target } => plan_skill(state, &acting(state, seat)?, skill, target.as_ref()),
        // LC-12: only the player of the active unit can end its turn.
        Command::End => {
            acting(state, seat)?;
            Ok(Step::End)
        }
    };
    Ok(planned.map(Plan).into())
}

fn race(state: &State, ticks_max: u64) -> Result<Step, Rejection> {
    // LC-1: time stands still while a unit is active.
    if state.active().is_some() {
        return Err(Rejection::UnitActive);
    }
    let mut race = Race::of(state);
    // LC-5: in a stalemate no tick would ever start a turn.
    let lap = race.run(ticks_max).ok_or(Rejection::Stalemate)?;
    Ok(Step::Race(race, lap))
}

/// LC-1: returns the active unit, if this seat plays it.
fn acting(state: &State, seat: Seat) -> Result<Active<'_>, Rejection> {
    let active = state.active().ok_or(Rejection::NoActiveUnit)?;
    if active.unit.team.seat() != seat {
        return Err(Rejection::NotYourTurn);
    }
    Ok(active)
}

/// LC-11: checks the action points, which comes before the action's own conditions.
fn afford(active: &Active<'_>, ap: u32) -> Result<(), Reason> {
    if active.unit.ap >= ap { Ok(()) } else { Err(Reason::NotEnoughAp) }
}

/// LC-11: plans a move, once in a turn.
fn plan_move(active: &Active<'_>) -> Result<Step, Reason> {
    afford(active, ACTION_AP)?;
    if active.done.moved {
        return Err(Reason::AlreadyMoved);
    }
    Ok(Step::Move)
}

/// LC-11: plans an attack on a living unit of the other team, once in a turn.
fn plan_attack(state: &State, active: &Active<'_>, target: &Id) -> Result<Step, Reason> {
    afford(active, ACTION_AP)?;
    if active.done.attacked {
        return Err(Reason::AlreadyAttacked);
    }
    Ok(Step::Attack { target: choose(state, active, Target::Enemy, Some(target))? })
}

/// LC-11: plans a skill. Whether the unit has the skill is checked first, because the cost depends on it.
fn plan_skill(state: &State, active: &Active<'_>, id: &Id, target: Option<&Id>) -> Result<Step, Reason> {
    let skills = &active.unit.skills;
    let known = skills.iter().enumerate().find(|(_, learned)| learned.skill.id == *id);
    let (skill, learned) = known.ok_or(Reason::UnknownSkill)?;
    afford(active, learned.skill.ap)?;
    if learned.cooldown_left > 0 {
        return Err(Reason::OnCooldown);
    }
    Ok(Step::Skill { skill, target: choose(state, active, learned.skill.target, target)? })
}

/// LC-11: returns the target: the named unit or, for `self`, the active unit. It must be alive and allowed.
fn choose(
    state: &State,
    active: &Active<'_>,
    allowed: Target,
    named: Option<&Id>,
) -> Result<UnitIndex, Reason> {
    let (index, unit) = match named {
        Some(id) => state.find(id).ok_or(Reason::UnknownUnit)?,
        None if allowed == Target::Itself => (active.index, active.unit),
        None => return Err(Reason::BadTarget),
    };
    let fits = match allowed {
        Target::Enemy => unit.team != active.unit.team,
        Target::Ally => unit.team == active.unit.team,
        Target::Itself => index == active.index,
        Target::Any => true,
    };
    if fits && unit.is_alive() { Ok(index) } else { Err(Reason::BadTarget) }
}

/// Lists the commands worth trying. Ticks are sampled: one, ten, and the most that one command can have.
pub(super) fn candidates(state: &State, seat: Seat) -> Vec<Command> {
    if seat == Seat::Host {
        let mut commands = Vec::new();
        for ticks in [1, 10, 100_000] {
            commands.extend(Ticks::try_from(ticks).map(Command::Tick));
        }
        commands.push(Command::Advance);
        return commands;
    }
    let Some(active) = state.active() else { return Vec::new() };
    let mut commands = Vec::from([Command::Move, Command::End]);
    for unit in &state.units {
        commands.push(Command::Attack(unit.id.clone()));
    }
    for learned in &active.unit.skills {
        let skill = &learned.skill.id;
        for unit in &state.units {
            commands.push(Command::Skill { skill: skill.clone(), target: Some(unit.id.clone()) });
        }
        commands.push(Command::Skill { skill: skill.clone(), target: None });
    }
    commands
}
