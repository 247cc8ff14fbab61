//! How the turtle walks: after the cursor, and towards it.

use super::effect::Effect;
use super::state::{Action, Field, State};
use turnfold_core::hex::{Direction, Hex};
use turnfold_core::outcome::EffectSink;

/// HC-6: where the turtle is and what it faces once the cursor has left `previous` in `direction`.
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

/// HC-9: the neighbor nearest the cursor, but not the cursor's cell; the lower direction among equals.
fn approach_step(state: &State) -> Option<(Hex, Direction)> {
    let steps = Direction::ALL.into_iter().map(|direction| (state.turtle.neighbor(direction), direction));
    let possible = steps.filter(|(hex, _)| state.board.contains(*hex) && *hex != state.cursor);
    possible.min_by_key(|(hex, _)| hex.distance(state.cursor))
}

/// HC-9: the turtle takes one step towards the cursor.
pub(super) fn approach(state: &mut State, effects: &mut impl EffectSink<Effect>) {
    if let Some((at, facing)) = approach_step(state) {
        place_turtle(state, at, facing, effects);
    }
}

/// Puts the turtle somewhere and turns it, and says so if that is a change.
pub(super) fn place_turtle(
    state: &mut State,
    at: Hex,
    facing: Direction,
    effects: &mut impl EffectSink<Effect>,
) {
    if (state.turtle, state.facing) != (at, facing) {
        (state.turtle, state.facing) = (at, facing);
        effects.push(|| Effect::Turtle { at, facing: facing.index() });
    }
}
