//! What the players see: the ruling's JSON document. Nothing is secret, so every seat sees the same.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;

use super::movement::Impulse;
use super::state::{Decided, Phase, State, Unit};
use crate::dice::DueRoll;
use crate::hex::Hex;
use crate::seat::Seat;
use crate::text::Id;

/// The view; fields are named and ordered as in the ruling.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct View {
    turn: u64,
    phase: &'static str,
    initiative: Option<InitiativeView>,
    movement_order: Vec<Impulse>,
    impulse: Option<u32>,
    active_player: Option<Seat>,
    remaining_in_impulse: Option<u32>,
    moved: Vec<Id>,
    cursor: Hex,
    selected: Option<Id>,
    units: Vec<UnitView>,
    blocked: Vec<Hex>,
    due_roll: Option<DueRoll>,
    prompt: String,
    status: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct InitiativeView {
    rolls: Rolls,
    loser: Seat,
    winner: Seat,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Rolls {
    p1: i32,
    p2: i32,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct UnitView {
    id: Id,
    owner: Seat,
    name: String,
    at: Hex,
    mp: u32,
}

impl View {
    pub(super) fn of(state: &State) -> Self {
        let impulse = state.impulse();
        let unit_id = |unit: &Unit| unit.id.clone();
        Self {
            turn: state.turn,
            phase: match state.phase {
                Phase::Initiative => "initiative",
                Phase::Movement { .. } => "movement",
                Phase::End => "end",
            },
            initiative: state.initiative.as_ref().map(initiative),
            movement_order: if impulse.is_some() { state.movement_order() } else { Vec::new() },
            impulse: match state.phase {
                Phase::Movement { impulse, .. } => Some(impulse),
                Phase::Initiative | Phase::End => None,
            },
            active_player: state.active_player(),
            remaining_in_impulse: impulse.map(|(_, remaining)| remaining),
            moved: state.moved.iter().filter_map(|&index| state.unit(index)).map(unit_id).collect(),
            cursor: state.cursor,
            selected: state.selected.and_then(|index| state.unit(index)).map(unit_id),
            units: state.units.iter().map(unit).collect(),
            blocked: state.blocked.iter().copied().collect(),
            due_roll: state.due_roll(),
            prompt: prompt(state),
            status: status(state),
        }
    }
}

fn initiative(decided: &Decided) -> InitiativeView {
    let [p1, p2] = decided.totals;
    InitiativeView { rolls: Rolls { p1, p2 }, loser: decided.loser, winner: decided.winner() }
}

fn unit(unit: &Unit) -> UnitView {
    let Unit { id, owner, name, at, mp } = unit.clone();
    UnitView { id, owner, name, at, mp }
}

/// How texts name a player.
fn player_name(player: Seat) -> &'static str {
    if player == Seat::P1 { "Player 1" } else { "Player 2" }
}

/// What the player to act is asked to do.
pub(super) fn prompt(state: &State) -> String {
    let Some((impulse, remaining)) = state.impulse() else {
        let text = if state.phase == Phase::End { "Turn complete" } else { "Roll for initiative" };
        return String::from(text);
    };
    let player = player_name(impulse.player);
    match state.selected.and_then(|index| state.unit(index)) {
        Some(unit) => format!("{player}: move {}", unit.name),
        None => format!("{player}: select a unit to move ({remaining} remaining)"),
    }
}

/// Whose turn it is and how much of the impulse is left; empty outside `movement`.
pub(super) fn status(state: &State) -> String {
    state.impulse().map_or_else(String::new, |(impulse, remaining)| {
        format!("{}'s turn — move {remaining} of {} units", player_name(impulse.player), impulse.units)
    })
}
