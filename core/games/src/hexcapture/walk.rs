//! The walks of the turtle: it follows the cursor and approaches it.

use super::effect::Effect;
use super::state::{Action, Field, State};
use turnfold_core::prelude::*;

/// HC-6: returns the turtle's hex and direction after the cursor has left `previous` in `direction`.
pub(super) fn follow(state: &State, previous: Hex, direction: Direction) -> (Hex, Direction) {
    let stays = (state.turtle, direction);
    let free = state.field == Field::World && state.action == Action::Free && state.carried.is_none();
    if !free || state.turtle.distance(state.cursor) <= 1 {
        return stays;
    }
    if state.turtle.distance(previous) == 1 {
        return (previous, direction);
    }
    approach_step(state).unwrap_or(stays)
}

/// HC-9: returns the neighbor nearest to the cursor, but never the cursor's cell; the lowest direction if equal.
fn approach_step(state: &State) -> Option<(Hex, Direction)> {
    let mut nearest: Option<(Hex, Direction)> = None;
    for direction in Direction::ALL {
        let hex = state.turtle.neighbor(direction);
        if !state.board.contains(hex) || hex == state.cursor {
            continue;
        }
        if nearest.is_none_or(|(best, _)| hex.distance(state.cursor) < best.distance(state.cursor)) {
            nearest = Some((hex, direction));
        }
    }
    nearest
}

/// HC-9: moves the turtle one step towards the cursor.
pub(super) fn approach(state: &mut State, effects: &mut impl EffectSink<Effect>) {
    if let Some((at, facing)) = approach_step(state) {
        place_turtle(state, at, facing, effects);
    }
}

/// Moves and turns the turtle, and reports any change.
pub(super) fn place_turtle(
    state: &mut State,
    at: Hex,
    facing: Direction,
    effects: &mut impl EffectSink<Effect>,
) {
    if state.turtle != at || state.facing != facing {
        state.turtle = at;
        state.facing = facing;
        effects.push(|| Effect::Turtle { at, facing: facing.index() });
    }
}
