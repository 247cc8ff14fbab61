//! What the player sees: the rulings' JSON document, and the answer to `chance Q,R`. Nothing is secret, so all viewers
//! see the same.

use alloc::format;
use alloc::string::ToString;
use alloc::vec::Vec;

use serde::Serialize;

use super::grid::Grid;
use super::palette::ColorIndex;
use super::state::{Action, Field, Flash, State};
use turnfold_core::hex::Board;
use turnfold_core::prelude::*;
use turnfold_core::text::{OrNone, split_verb};

/// The view; fields are named and ordered as in the ruling.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "the fields are named as in the ruling and typed")]
pub struct View {
    pub mode: &'static str,
    pub tick: u64,
    pub remaining_seconds: u32,
    pub field: Field,
    pub cursor: Hex,
    pub turtle: Hex,
    pub facing: u8,
    pub action: bool,
    pub charge_since: Option<u64>,
    pub releasing: bool,
    pub cooldown: u32,
    pub carried: Option<CarriedView>,
    pub flash: Option<Flash>,
    pub chance: Option<u8>,
    pub due_roll: Option<DueRoll>,
    pub world: Vec<CellView>,
    pub inventory: Vec<CellView>,
    pub eaten: Vec<u32>,
    pub adjacent: Vec<u32>,
}

/// The hex that is carried.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "the fields are named as in the ruling and typed")]
pub struct CarriedView {
    pub field: Field,
    pub at: Hex,
}

/// A cell that holds a color.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "the fields are named as in the ruling and typed")]
pub struct CellView {
    pub at: Hex,
    pub color: ColorIndex,
}

impl View {
    pub(super) fn of(state: &State) -> Self {
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
            carried: state.carried.map(|carried| CarriedView { field: carried.field(), at: carried.at() }),
            flash: state.flash,
            chance: chance(state),
            due_roll: state.due_roll(),
            world: cells(&state.world, state.board),
            inventory: cells(&state.inventory, state.board),
            eaten: state.eaten.clone(),
            // HC-17: for information only; no rule uses it.
            adjacent: state.world.adjacent(state.board, state.palette.colors.len()),
        }
    }
}

fn cells(grid: &Grid, board: Board) -> Vec<CellView> {
    grid.colored(board).map(|(at, color)| CellView { at, color }).collect()
}

/// Returns one word for what is going on: the first that applies.
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

/// Returns the chance of a capture under the cursor, if a capture could be tried.
pub(super) fn chance(state: &State) -> Option<u8> {
    if state.carried.is_some() || state.cooldown > 0 {
        return None;
    }
    state.chance_under_cursor()
}

pub(super) fn query(state: &State, question: &str) -> Result<Option<Answer>, Malformed> {
    match split_verb(question) {
        ("chance", Some(hex)) => Ok(Some(chance_at(state, hex)?)),
        _ => Ok(None),
    }
}

/// HC-13: answers with the chance for a cell of the world; `null` if it is empty.
fn chance_at(state: &State, hex: &str) -> Result<Answer, Malformed> {
    let at: Hex = hex.parse()?;
    if !state.board.contains(at) {
        let message = format!("hex {at} is off the board of radius {}", state.board.radius());
        return Err(Malformed(message));
    }
    let chance = state.chance(Field::World, at);
    Ok(Answer::new(OrNone(chance).to_string(), &chance))
}
