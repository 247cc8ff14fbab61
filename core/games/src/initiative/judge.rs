//! Decides what a command would do now. Each rule about commands is checked here, once.

use alloc::vec;
use alloc::vec::Vec;

use super::command::Command;
use super::reach::within_reach;
use super::reason::{Reason, Rejection};
use super::state::{Phase, State, Unit, UnitIndex};
use turnfold_core::prelude::*;

/// What to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan(pub(super) Step);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// The totals of p1 and p2.
    Roll([i32; 2]),
    Cycle(Hex),
    Select {
        unit: UnitIndex,
        cursor: Option<Hex>,
    },
    Deselect,
    Move {
        unit: UnitIndex,
        to: Hex,
    },
    Stand {
        unit: UnitIndex,
    },
    NextTurn,
}

pub(super) fn decide(
    state: &State,
    seat: Seat,
    command: &Command,
) -> Result<Verdict<Plan, Reason>, Rejection> {
    match command {
        Command::Roll(_) => {}
        // IN-5: only the host opens the next turn, once all impulses are over.
        Command::NextTurn if state.phase == Phase::End => {}
        Command::NextTurn => return Err(Rejection::WrongPhase),
        _ => match state.active_player() {
            None => return Err(Rejection::WrongPhase),
            Some(active) if active != seat => return Err(Rejection::NotYourTurn),
            Some(_) => {}
        },
    }
    Ok(plan(state, seat, command).map(Plan).into())
}

/// Plans a command that the phase allows and this seat may give.
fn plan(state: &State, seat: Seat, command: &Command) -> Result<Step, Reason> {
    match command {
        Command::Roll(values) => Ok(Step::Roll(totals(values))),
        Command::Cycle => Ok(Step::Cycle(next_selectable(state))),
        // IN-8: the cursor is always on the board, so only the unit is checked.
        Command::Confirm => {
            Ok(Step::Select { unit: selectable_at(state, seat, state.cursor)?, cursor: None })
        }
        // IN-9: an ignored click leaves the cursor where it was.
        Command::Click(hex) if !state.board.contains(*hex) => Err(Reason::OutOfBounds),
        Command::Click(hex) => {
            Ok(Step::Select { unit: selectable_at(state, seat, *hex)?, cursor: Some(*hex) })
        }
        // IN-10: `cancel` needs a selection.
        Command::Cancel => {
            selected(state)?;
            Ok(Step::Deselect)
        }
        // IN-11: the reasons are checked in the order of the rule.
        Command::Move(to) => {
            let index = selected(state)?;
            let unit = state.unit(index).ok_or(Reason::NothingSelected)?;
            check_move(state, unit, *to)?;
            Ok(Step::Move { unit: index, to: *to })
        }
        // IN-12: only a selected unit can stand, because standing completes its movement.
        Command::Stand => Ok(Step::Stand { unit: selected(state)? }),
        Command::NextTurn => Ok(Step::NextTurn),
    }
}

fn selected(state: &State) -> Result<UnitIndex, Reason> {
    state.selected.ok_or(Reason::NothingSelected)
}

/// IN-1: returns the totals of p1 and p2. The first two dice are p1's, the others p2's.
fn totals(values: &[i32]) -> [i32; 2] {
    let (first, second) = values.split_at(values.len() / 2);
    [first.iter().sum(), second.iter().sum()]
}

/// IN-7: returns the hex of the next selectable unit in setup order after the unit under the cursor.
fn next_selectable(state: &State) -> Hex {
    let from = match state.unit_at(state.cursor) {
        Some((index, _)) => index + 1,
        None => 0,
    };
    let mut first = None;
    for (index, unit) in state.selectable() {
        if index >= from {
            return unit.at;
        }
        first.get_or_insert(unit.at);
    }
    first.unwrap_or(state.cursor)
}

/// IN-8: returns the player's unit on `hex`, if it has yet to move.
fn selectable_at(state: &State, player: Seat, hex: Hex) -> Result<UnitIndex, Reason> {
    let (index, unit) = state.unit_at(hex).ok_or(Reason::NoUnit)?;
    if unit.owner != player {
        return Err(Reason::NotYourUnit);
    }
    if state.moved.contains(&index) {
        return Err(Reason::AlreadyMoved);
    }
    Ok(index)
}

/// IN-11: checks that a unit may move to a hex if it is selected.
pub(super) fn check_move(state: &State, unit: &Unit, to: Hex) -> Result<(), Reason> {
    if !state.board.contains(to) {
        return Err(Reason::OutOfBounds);
    }
    if state.blocked.contains(&to) {
        return Err(Reason::Impassable);
    }
    match state.unit_at(to) {
        Some((_, other)) if other.id == unit.id => Err(Reason::SameHex),
        Some(_) => Err(Reason::Occupied),
        None if within_reach(state, unit, to) => Ok(()),
        None => Err(Reason::OutOfReach),
    }
}

/// Lists the commands worth trying. Rolls are sampled: one for each winner, and a tie.
pub(super) fn candidates(state: &State, seat: Seat) -> Vec<Command> {
    if seat == Seat::Host {
        let rolls = [[1, 2, 5, 6], [5, 6, 1, 2], [3, 4, 3, 4]];
        let mut commands: Vec<Command> = rolls.map(|values| Command::Roll(values.to_vec())).into();
        commands.push(Command::NextTurn);
        return commands;
    }
    let mut commands = vec![Command::Cycle, Command::Confirm, Command::Cancel, Command::Stand];
    commands.extend(state.units.iter().map(|unit| Command::Click(unit.at)));
    commands.extend(state.board.hexes().map(Command::Move));
    commands
}
