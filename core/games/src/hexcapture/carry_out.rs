//! Carries out what `judge` planned.

use super::charge;
use super::effect::{Effect, FailureCause};
use super::judge::{Plan, Step};
use super::state::{Action, Carried, Due, Field, State};
use super::tick;
use super::walk;
use turnfold_core::prelude::*;

pub(super) fn carry_out(state: &mut State, plan: &Plan, effects: &mut impl EffectSink<Effect>) {
    match plan.0 {
        Step::MoveCursor { direction, to, by_stick } => {
            if by_stick {
                state.last_stick = Some(state.tick);
            }
            move_cursor(state, direction, to, effects);
        }
        Step::Press(action) => press(state, action, effects),
        Step::LetGo => {
            effects.push(|| Effect::Action { held: false });
            stop(state, Action::Free, effects);
        }
        // HC-7: the roll chooses the place, so the hex is eaten on the roll.
        Step::AwaitEat => charge::await_roll(state, Due::Eat, None, effects),
        Step::Eat { from, stored } => eat(state, from, stored, effects),
        // HC-8: one cursor serves both views.
        Step::Toggle => {
            let field = match state.field {
                Field::World => Field::Inventory,
                Field::Inventory => Field::World,
            };
            state.field = field;
            effects.push(|| Effect::Field { field });
            let action = if state.action == Action::Free { Action::Free } else { Action::Held };
            stop(state, action, effects);
        }
        Step::Tick(ticks) => tick::run(state, ticks, effects),
        // HC-14: the roll succeeded, so the hex is captured.
        Step::Capture => {
            state.due = None;
            charge::capture(state, effects);
        }
        Step::FailCapture => {
            state.due = None;
            charge::fail(state, FailureCause::Roll, effects);
        }
    }
}

/// HC-2: moves the cursor. The turtle turns, and follows if it is free to.
fn move_cursor(state: &mut State, direction: Direction, to: Hex, effects: &mut impl EffectSink<Effect>) {
    let previous = core::mem::replace(&mut state.cursor, to);
    effects.push(|| Effect::Cursor { at: to });
    if let Some(Carried::World { moved, .. }) = &mut state.carried
        && state.action != Action::Free
    {
        *moved = Some(state.tick);
    }
    let (at, facing) = walk::follow(state, previous, direction);
    walk::place_turtle(state, at, facing, effects);
}

fn press(state: &mut State, action: Action, effects: &mut impl EffectSink<Effect>) {
    state.action = action;
    effects.push(|| Effect::Action { held: true });
    let at = state.cursor;
    match action {
        Action::Charging { .. } => effects.push(|| Effect::ChargeStarted { at }),
        Action::Releasing => effects.push(|| Effect::ReleaseStarted),
        Action::Free | Action::Held => {}
    }
}

/// HC-5, HC-8: cancels a charge or ends a release; a carried hex stays carried.
fn stop(state: &mut State, action: Action, effects: &mut impl EffectSink<Effect>) {
    let before = core::mem::replace(&mut state.action, action);
    if matches!(before, Action::Charging { .. }) {
        effects.push(|| Effect::ChargeCancelled);
    }
}

/// HC-7: removes the carried hex from the world, and colors an inventory hex if one is empty.
fn eat(state: &mut State, from: Hex, stored: Option<Hex>, effects: &mut impl EffectSink<Effect>) {
    state.due = None;
    state.end_carry();
    let Some(color) = state.cell(Field::World, from) else { return };
    state.set_cell(Field::World, from, None);
    if let Some(at) = stored {
        state.set_cell(Field::Inventory, at, Some(color));
    }
    if let Some(count) = state.eaten.get_mut(usize::from(color.index())) {
        *count = count.saturating_add(1);
    }
    effects.push(|| Effect::Eaten { color, stored });
}
