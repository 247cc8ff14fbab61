//! What a command would do now; every rule about commands stands here, once.

use alloc::vec;
use alloc::vec::Vec;

use super::command::Command;
use super::order::Task;
use super::reason::{Reason, Rejection};
use super::state::UnitId;
use super::state::{BuiltPath, Phase, Planning, State, Tap};
use turnfold_core::prelude::*;

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan(pub(super) Step);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Select(UnitId),
    /// The unit's costly orders go, a DEFENSE is pending.
    AwaitDefense(UnitId),
    CancelOrder(UnitId),
    Attack {
        unit: UnitId,
        target: Hex,
    },
    StartPath {
        unit: UnitId,
        at: Hex,
    },
    ChangePath(PathStep),
    EndPlanning,
    Resolve,
}

/// What is to be done to the path being built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PathStep {
    ToggleKind,
    Extend(Hex),
    Confirm,
    Shorten,
}

pub(super) fn decide(
    state: &State,
    seat: Seat,
    command: &Command,
) -> Result<Verdict<Plan, Reason>, Rejection> {
    let planned = match (command, &state.phase) {
        // CT-2: `resolve` belongs to the execution, and nothing else does.
        (Command::Resolve, Phase::Execution) => Ok(Step::Resolve),
        (Command::Resolve, _) | (_, Phase::Execution | Phase::Over { .. }) => {
            return Err(Rejection::WrongPhase);
        }
        (_, Phase::Planning(planning)) if planning.seat != seat => return Err(Rejection::NotYourTurn),
        (Command::Tap(hex), Phase::Planning(planning)) => tap(state, planning, *hex),
        // CT-10: only a path can be shortened.
        (Command::Back, Phase::Planning(planning)) => match planning.tap {
            Tap::PathBuilding(_) => Ok(Step::ChangePath(PathStep::Shorten)),
            _ => Err(Reason::NothingToUndo),
        },
        // CT-12: a player can always end the planning, so there is no stalemate.
        (Command::Switch, Phase::Planning(_)) => Ok(Step::EndPlanning),
    };
    Ok(planned.map(Plan).into())
}

/// Which line of the tap rules a tap falls under.
fn tap(state: &State, planning: &Planning, hex: Hex) -> Result<Step, Reason> {
    let friendly = match state.unit_at(hex) {
        Some((id, unit)) if unit.owner == planning.seat => Some(id),
        _ => None,
    };
    let origin = planning.tap.origin();
    let Some((unit, from)) = origin.and_then(|unit| Some((unit, state.units.get(&unit)?.at))) else {
        // CT-3: nothing is selected, so the tap must find a unit of the seat.
        return friendly.map(Step::Select).ok_or(Reason::NoFriendlyUnit);
    };
    let on_origin = hex == from;
    match (&planning.tap, friendly) {
        // CT-9: the origin confirms a path, which is why `back` is a command.
        (Tap::PathBuilding(_), _) if on_origin => Ok(Step::ChangePath(PathStep::Confirm)),
        (Tap::PathBuilding(path), _) => {
            tap_while_building(state, planning.seat, path, hex).map(Step::ChangePath)
        }
        // CT-4: a second tap on the origin cancels.
        (Tap::DefensePending(_), _) if on_origin => Ok(Step::CancelOrder(unit)),
        _ if on_origin => Ok(Step::AwaitDefense(unit)),
        // CT-5: no unit attacks its own side, so its units are tapped freely.
        (_, Some(other)) => Ok(Step::Select(other)),
        (_, None) => tap_around(state, planning, unit, from, hex),
    }
}

/// CT-6: a tap on a hex that holds no friendly unit.
fn tap_around(state: &State, planning: &Planning, unit: UnitId, from: Hex, hex: Hex) -> Result<Step, Reason> {
    check_way(state, from, hex)?;
    if matches!(planning.tap, Tap::DefensePending(_)) || state.is_defending(unit) {
        return Err(Reason::Defending);
    }
    if state.tasks_of(unit).any(|task| *task == Task::Attack(hex)) {
        // CT-7: the first waypoint of a path is an empty hex.
        check_no_enemy(state, planning.seat, hex)?;
        return Ok(Step::StartPath { unit, at: hex });
    }
    // The slot of a path that the attack replaces is free for the attack.
    if !state.has_path(unit) && state.pool(planning.seat).available == 0 {
        return Err(Reason::PoolExhausted);
    }
    Ok(Step::Attack { unit, target: hex })
}

/// CT-8: a tap on a hex that is not the origin.
fn tap_while_building(state: &State, seat: Seat, path: &BuiltPath, hex: Hex) -> Result<PathStep, Reason> {
    if path.waypoints == [hex] {
        return Ok(PathStep::ToggleKind);
    }
    if path.waypoints.contains(&hex) {
        return Err(Reason::Loop);
    }
    let last = path.waypoints.last().copied().unwrap_or(hex);
    check_way(state, last, hex)?;
    check_no_enemy(state, seat, hex)?;
    if path.waypoints.len() >= usize::from(state.max_movement) {
        return Err(Reason::PathFull);
    }
    Ok(PathStep::Extend(hex))
}

/// CT-6, CT-8: whether orders may lead from one hex to another.
fn check_way(state: &State, from: Hex, to: Hex) -> Result<(), Reason> {
    if !state.board.contains(to) {
        return Err(Reason::OutOfBounds);
    }
    if from.distance(to) != 1 {
        return Err(Reason::NotAdjacent);
    }
    if state.water.contains(&to) {
        return Err(Reason::Impassable);
    }
    Ok(())
}

/// CT-7, CT-8: no path leads through an enemy.
fn check_no_enemy(state: &State, seat: Seat, hex: Hex) -> Result<(), Reason> {
    match state.unit_at(hex) {
        Some((_, unit)) if unit.owner != seat => Err(Reason::EnemyOccupied),
        _ => Ok(()),
    }
}

/// Lists the commands worth trying: every hex of the board may be tapped.
pub(super) fn candidates(state: &State, seat: Seat) -> Vec<Command> {
    if seat == Seat::Host {
        return vec![Command::Resolve];
    }
    let mut commands = vec![Command::Back, Command::Switch];
    commands.extend(state.board.hexes().map(Command::Tap));
    commands
}
