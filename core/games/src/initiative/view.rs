//! What the players see: the rulings' JSON document, and the answers to `order LOSER WINNER` and `reach UNIT`. Nothing
//! is secret, so all viewers see the same.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;

use super::judge::check_move;
use super::movement::{Impulse, Side, movement_order};
use super::state::{Decided, Phase, State, Unit};
use turnfold_core::prelude::*;
use turnfold_core::text::{joined_by, number, split_verb};

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

/// The loser and the winner of the initiative, with their rolls.
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
        let mut moved = Vec::new();
        for index in &state.moved {
            if let Some(unit) = state.unit(*index) {
                moved.push(unit.id.clone());
            }
        }
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
            moved,
            cursor: state.cursor,
            selected: state.selected_unit().map(|unit| unit.id.clone()),
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

fn player_name(player: Seat) -> &'static str {
    if player == Seat::P1 { "Player 1" } else { "Player 2" }
}

/// Returns what the player is asked to do next.
pub(super) fn prompt(state: &State) -> String {
    let Some((impulse, remaining)) = state.impulse() else {
        let text = if state.phase == Phase::End { "Turn complete" } else { "Roll for initiative" };
        return String::from(text);
    };
    let player = player_name(impulse.player);
    match state.selected_unit() {
        Some(unit) => format!("{player}: move {}", unit.name),
        None => format!("{player}: select a unit to move ({remaining} remaining)"),
    }
}

/// Returns whose impulse it is and how much of it is left; empty outside `movement`.
pub(super) fn status(state: &State) -> String {
    let Some((impulse, remaining)) = state.impulse() else { return String::new() };
    format!("{}'s turn — move {remaining} of {} units", player_name(impulse.player), impulse.units)
}

pub(super) fn query(state: &State, question: &str) -> Result<Option<Answer>, Malformed> {
    match split_verb(question) {
        ("order", Some(counts)) => Ok(Some(order(counts)?)),
        ("reach", Some(unit)) => Ok(Some(reach(state, unit)?)),
        _ => Ok(None),
    }
}

/// IN-4: answers with the impulses for any two counts of 0..=1000.
fn order(counts: &str) -> Result<Answer, Malformed> {
    let Some([loser, winner]) = two_counts(counts) else {
        let message = format!("`order` takes two counts of 0 to 1000, found `{}`", counts.escape_debug());
        return Err(Malformed(message));
    };
    let loser = Side { player: Seat::P1, units: loser };
    let winner = Side { player: Seat::P2, units: winner };
    let mut impulses = Vec::new();
    let mut words = Vec::new();
    for Impulse { player, units } in movement_order(loser, winner) {
        let side = if player == Seat::P1 { "L" } else { "W" };
        impulses.push((side, units));
        words.push(format!("{side}{units}"));
    }
    Ok(Answer::new(words.join(" "), &impulses))
}

fn two_counts(text: &str) -> Option<[u32; 2]> {
    let (loser, winner) = text.split_once(' ')?;
    match (number(loser), number(winner)) {
        (Ok(loser @ 0..=1000), Ok(winner @ 0..=1000)) => Some([loser, winner]),
        _ => None,
    }
}

/// Answers with the hexes that `move` (IN-11) would accept if the unit were selected.
fn reach(state: &State, id: &str) -> Result<Answer, Malformed> {
    let Some(unit) = state.units.iter().find(|unit| unit.id.as_str() == id) else {
        return Err(Malformed(format!("no unit has the id `{}`", id.escape_debug())));
    };
    let hexes: Vec<Hex> = state.board.hexes().filter(|&hex| check_move(state, unit, hex).is_ok()).collect();
    Ok(Answer::new(joined_by(" ", &hexes), &hexes))
}
