//! What the players see: the ruling's JSON document. Nothing is secret, so every seat sees the same.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;

use super::movement::Impulse;
use super::state::{Decided, Phase, State, Unit};
use turnfold_core::dice::DueRoll;
use turnfold_core::hex::Hex;
use turnfold_core::seat::Seat;
use turnfold_core::text::Id;

/// The view; fields are named and ordered as in the ruling.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "the fields are named as in the ruling and typed")]
pub struct View {
    pub turn: u64,
    pub phase: &'static str,
    pub initiative: Option<InitiativeView>,
    pub movement_order: Vec<Impulse>,
    pub impulse: Option<u32>,
    pub active_player: Option<Seat>,
    pub remaining_in_impulse: Option<u32>,
    pub moved: Vec<Id>,
    pub cursor: Hex,
    pub selected: Option<Id>,
    pub units: Vec<Unit>,
    pub blocked: Vec<Hex>,
    pub due_roll: Option<DueRoll>,
    pub prompt: String,
    pub status: String,
}

/// Who won the initiative, and with which rolls.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "the fields are named as in the ruling and typed")]
pub struct InitiativeView {
    pub rolls: Rolls,
    pub loser: Seat,
    pub winner: Seat,
}

/// The totals that the players rolled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "the fields are named as in the ruling and typed")]
pub struct Rolls {
    pub p1: i32,
    pub p2: i32,
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
            units: state.units.clone(),
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
