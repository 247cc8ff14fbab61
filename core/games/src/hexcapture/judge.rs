//! Decides what a command would do now. Each rule about commands is checked here, once.

use alloc::vec;
use alloc::vec::Vec;

use super::command::Command;
use super::reason::Reason;
use super::state::{Action, Carried, Due, Field, State};
use turnfold_core::prelude::*;

/// What to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan(pub(super) Step);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    MoveCursor {
        direction: Direction,
        to: Hex,
        by_stick: bool,
    },
    /// The action is held from now on and has this effect.
    Press(Action),
    LetGo,
    /// A roll has to choose where the carried hex is stored.
    AwaitEat,
    /// Eats the world hex carried at `from`. It is stored unless the inventory is full.
    Eat {
        from: Hex,
        stored: Option<Hex>,
    },
    Toggle,
    Tick(Ticks),
    Capture,
    FailCapture,
}

pub(super) fn decide(state: &State, command: &Command) -> Verdict<Plan, Reason> {
    plan(state, command).map(Plan).into()
}

/// Plans a command that passed the checks of all rulesets.
fn plan(state: &State, command: &Command) -> Result<Step, Reason> {
    match command {
        Command::Move(direction) => move_cursor(state, *direction, false),
        Command::Stick(direction) => move_cursor(state, *direction, true),
        // HC-4: `already_held` is checked before `cooldown`, as the rule lists them.
        Command::Act if state.action != Action::Free => Err(Reason::AlreadyHeld),
        Command::Act if state.cooldown > 0 => Err(Reason::Cooldown),
        Command::Act => Ok(Step::Press(pressed(state))),
        // HC-5: only a held action can be let go.
        Command::Release if state.action == Action::Free => Err(Reason::NotHeld),
        Command::Release => Ok(Step::LetGo),
        Command::Eat => eat(state),
        // HC-8: changing the view is always possible.
        Command::Toggle => Ok(Step::Toggle),
        Command::Tick(ticks) => Ok(Step::Tick(*ticks)),
        Command::Roll(values) => roll(state, values),
    }
}

/// HC-2, HC-3: plans a cursor move by one hex. No cell is an obstacle.
fn move_cursor(state: &State, direction: Direction, by_stick: bool) -> Result<Step, Reason> {
    let to = state.cursor.neighbor(direction);
    if !state.board.contains(to) {
        return Err(Reason::OutOfBounds);
    }
    // HC-3: `stick_period` limits only `stick`; `carry_period` limits both commands.
    let stick_rests = by_stick && within(state, state.last_stick, state.timing.stick_period);
    if stick_rests || carry_rests(state) {
        return Err(Reason::Throttled);
    }
    Ok(Step::MoveCursor { direction, to, by_stick })
}

/// HC-2: returns `true` if the cursor may not yet move again with a carried world hex and the action held.
fn carry_rests(state: &State) -> bool {
    let Some(Carried::World { moved, .. }) = state.carried else { return false };
    let held = state.field == Field::World && state.action != Action::Free;
    held && within(state, moved, state.timing.carry_period)
}

/// Returns `true` if fewer than `period` ticks have passed since a tick.
fn within(state: &State, since: Option<u64>, period: u32) -> bool {
    since.is_some_and(|since| state.ticks_since(since) < u64::from(period))
}

/// HC-4: returns what a press starts. In the inventory it takes effect at once.
fn pressed(state: &State) -> Action {
    match (state.field, state.carried) {
        (Field::Inventory, None) => Action::Charging { since: state.tick },
        (Field::Inventory, Some(Carried::Inventory { .. })) => Action::Releasing,
        (Field::World, _) | (_, Some(Carried::World { .. })) => Action::Held,
    }
}

/// HC-7: plans a meal. A roll chooses where the hex is stored, unless the inventory is full.
fn eat(state: &State) -> Result<Step, Reason> {
    if state.field == Field::Inventory {
        return Err(Reason::InInventory);
    }
    let from = state.carried_world_hex().ok_or(Reason::NotCarrying)?;
    match state.inventory.empties(state.board).next() {
        Some(_) => Ok(Step::AwaitEat),
        None => Ok(Step::Eat { from, stored: None }),
    }
}

/// Plans the roll that is due.
fn roll(state: &State, values: &[i32]) -> Result<Step, Reason> {
    let value = values.first().copied().unwrap_or_default();
    if state.due == Some(Due::Eat) {
        // HC-7: the value counts the empty places by q, then r.
        let from = state.carried_world_hex().ok_or(Reason::NotCarrying)?;
        let index = usize::try_from(value).unwrap_or_default();
        return Ok(Step::Eat { from, stored: state.inventory.empties(state.board).nth(index) });
    }
    // HC-14: the value is 0 to 99, so a chance of 25 succeeds with 25 of 100 values.
    let chance = state.chance_under_cursor().unwrap_or_default();
    Ok(if value < i32::from(chance) { Step::Capture } else { Step::FailCapture })
}

/// Lists the commands worth trying. Ticks are sampled as one and a few, rolls as the least and the greatest value.
pub(super) fn candidates(state: &State, seat: Seat) -> Vec<Command> {
    let mut commands = Vec::new();
    if seat == Seat::Host {
        commands.extend([Ticks::ONE, Ticks::FEW].map(Command::Tick));
        if let Some(due) = state.due_roll() {
            commands.push(Command::Roll(vec![due.low]));
            if due.high > due.low {
                commands.push(Command::Roll(vec![due.high]));
            }
        }
        return commands;
    }
    commands.extend(Direction::ALL.map(Command::Move));
    commands.extend(Direction::ALL.map(Command::Stick));
    commands.extend([Command::Act, Command::Release, Command::Eat, Command::Toggle]);
    commands
}
