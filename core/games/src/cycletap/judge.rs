//! Decides what a command would do now. Each rule about commands is checked here, once.

use alloc::vec;
use alloc::vec::Vec;

use super::command::Command;
use super::order::Task;
use super::reason::{Reason, Rejection};
use super::state::{BuiltPath, Phase, Planning, State, Tap, UnitId};
use turnfold_core::prelude::*;

/// What to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan(pub(super) Step);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Select(UnitId),
    /// Clears the unit's costly orders and leaves a DEFENSE pending.
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

/// What to do with the path being built.
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
        // CT-2: `execution` takes only `resolve`, and no other phase takes it.
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

/// Plans a tap by the tap rules.
fn tap(state: &State, planning: &Planning, hex: Hex) -> Result<Step, Reason> {
    let friendly = match state.unit_at(hex) {
        Some((id, unit)) if unit.owner == planning.seat => Some(id),
        _ => None,
    };
    let Some((unit, origin)) = state.origin(&planning.tap) else {
        // CT-3: without an origin, the tap must be on a unit of the seat.
        return friendly.map(Step::Select).ok_or(Reason::NoFriendlyUnit);
    };
    if hex == origin.at {
        return Ok(match planning.tap {
            // CT-9: a tap on the origin confirms a path, so `back` has to be a separate command.
            Tap::PathBuilding(_) => Step::ChangePath(PathStep::Confirm),
            // CT-4: the next tap on the origin cancels.
            Tap::DefensePending(_) => Step::CancelOrder(unit),
            _ => Step::AwaitDefense(unit),
        });
    }
    if let Tap::PathBuilding(path) = &planning.tap {
        return Ok(Step::ChangePath(tap_while_building(state, planning.seat, path, hex)?));
    }
    // CT-5: no unit attacks its own side, so a tap on another own unit selects it.
    if let Some(other) = friendly {
        return Ok(Step::Select(other));
    }
    tap_around(state, planning, unit, origin.at, hex)
}

/// CT-6: plans a tap on a hex without a unit of the own side.
fn tap_around(state: &State, planning: &Planning, unit: UnitId, from: Hex, hex: Hex) -> Result<Step, Reason> {
    check_way(state, from, hex)?;
    if matches!(planning.tap, Tap::DefensePending(_)) || state.is_defending(unit) {
        return Err(Reason::Defending);
    }
    if state.tasks_of(unit).any(|task| *task == Task::Attack(hex)) {
        // CT-7: the first waypoint of a path has to be an empty hex.
        check_no_enemy(state, planning.seat, hex)?;
        return Ok(Step::StartPath { unit, at: hex });
    }
    // A path that the attack replaces returns its slot for the attack.
    if !state.has_path(unit) && state.pool(planning.seat).available == 0 {
        return Err(Reason::PoolExhausted);
    }
    Ok(Step::Attack { unit, target: hex })
}

/// CT-8: plans a tap on a hex other than the origin.
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

/// CT-6, CT-8: checks that an order may lead from one hex to another.
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

/// CT-7, CT-8: checks that no enemy is on a hex of a path.
fn check_no_enemy(state: &State, seat: Seat, hex: Hex) -> Result<(), Reason> {
    match state.unit_at(hex) {
        Some((_, unit)) if unit.owner != seat => Err(Reason::EnemyOccupied),
        _ => Ok(()),
    }
}

/// Lists the commands worth trying, among them a tap on every hex of the board.
pub(super) fn candidates(state: &State, seat: Seat) -> Vec<Command> {
    if seat == Seat::Host {
        return vec![Command::Resolve];
    }
    let mut commands = vec![Command::Back, Command::Switch];
    commands.extend(state.board.hexes().map(Command::Tap));
    commands
}
