//! What the player sees: the ruling's JSON document. Nothing is secret, so every seat sees the same.

use alloc::vec::Vec;

use serde::Serialize;

use super::palette::Color;
use super::state::{Action, Carried, Field, Flash, State};
use crate::dice::DueRoll;
use crate::hex::Hex;

/// The view; fields are named and ordered as in the ruling.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct View {
    mode: &'static str,
    tick: u64,
    remaining_seconds: u32,
    field: Field,
    cursor: Hex,
    turtle: Hex,
    facing: u8,
    action: bool,
    charge_since: Option<u64>,
    releasing: bool,
    cooldown: u32,
    carried: Option<CarriedView>,
    flash: Option<Flash>,
    chance: Option<u8>,
    due_roll: Option<DueRoll>,
    world: Vec<CellView>,
    inventory: Vec<CellView>,
    eaten: Vec<u32>,
    adjacent: Vec<u32>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct CarriedView {
    field: Field,
    at: Hex,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct CellView {
    at: Hex,
    color: Color,
}

impl View {
    pub(super) fn of(state: &State) -> Self {
        let cell = |(at, color)| CellView { at, color };
        let carried = |carried: Carried| CarriedView { field: carried.field(), at: carried.at() };
        Self {
            mode: mode(state),
            tick: state.tick,
            remaining_seconds: state.remaining_seconds,
            field: state.field,
            cursor: state.cursor,
            turtle: state.turtle,
            facing: state.facing.index(),
            action: state.action != Action::Free,
            charge_since: match state.action {
                Action::Charging { since } => Some(since),
                Action::Free | Action::Held | Action::Releasing => None,
            },
            releasing: state.action == Action::Releasing,
            cooldown: state.cooldown,
            carried: state.carried.map(carried),
            flash: state.flash,
            chance: chance(state),
            due_roll: state.due_roll(),
            world: state.world.colored(state.board).map(cell).collect(),
            inventory: state.inventory.colored(state.board).map(cell).collect(),
            eaten: state.eaten.clone(),
            // HC-17
            adjacent: state.world.adjacent(state.board, state.palette.colors.len()),
        }
    }
}

/// What is going on, in a word: the first that fits.
pub(super) fn mode(state: &State) -> &'static str {
    match state.action {
        _ if state.field == Field::Inventory => "inventory",
        Action::Charging { .. } => "charging",
        Action::Releasing => "release",
        _ if state.carried.is_some() => "carrying",
        Action::Held => "action",
        Action::Free if state.cooldown > 0 => "cooldown",
        Action::Free => "free",
    }
}

/// The chance of a capture under the cursor, where one could be tried.
pub(super) fn chance(state: &State) -> Option<u8> {
    if state.carried.is_some() || state.cooldown > 0 {
        return None;
    }
    state.chance_under_cursor()
}
