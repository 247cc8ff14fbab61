//! What the players see: the rulings' JSON document, and the answers to `order LOSER WINNER` and `reach UNIT`. Nothing
//! is secret, so all viewers see the same.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde::Serialize;

use super::judge::check_move;
use super::movement::{Impulse, Side, movement_order};
use super::state::{Decided, Phase, State, Unit};
use turnfold_core::prelude::*;
use turnfold_core::text::{number, split_verb};

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
    match state.selected.and_then(|index| state.unit(index)) {
        Some(unit) => format!("{player}: move {}", unit.name),
        None => format!("{player}: select a unit to move ({remaining} remaining)"),
    }
}

/// Returns whose impulse it is and how much of it is left; empty outside `movement`.
pub(super) fn status(state: &State) -> String {
    state.impulse().map_or_else(String::new, |(impulse, remaining)| {
        format!("{}'s turn — move {remaining} of {} units", player_name(impulse.player), impulse.units)
    })
}

pub(super) fn query(state: &State, question: &str) -> Result<Option<Answer>, Malformed> {
    match split_verb(question) {
        ("order", Some(counts)) => order(counts).map(Some),
        ("reach", Some(unit)) => reach(state, unit).map(Some),
        _ => Ok(None),
    }
}

/// IN-4: answers with the impulses for any two counts of 0..=1000.
fn order(counts: &str) -> Result<Answer, Malformed> {
    let count = |word: &str| number::<u32>(word).ok().filter(|count| *count <= 1000);
    let read = counts.split_once(' ').and_then(|(loser, winner)| Some((count(loser)?, count(winner)?)));
    let Some((loser, winner)) = read else {
        let message = format!("`order` takes two counts of 0 to 1000, found `{}`", counts.escape_debug());
        return Err(Malformed(message));
    };
    let side = |player, units| Side { player, units };
    let impulses: Vec<(&str, u32)> = movement_order(side(Seat::P1, loser), side(Seat::P2, winner))
        .iter()
        .map(|impulse| (if impulse.player == Seat::P1 { "L" } else { "W" }, impulse.units))
        .collect();
    let words: Vec<String> = impulses.iter().map(|(side, units)| format!("{side}{units}")).collect();
    Ok(Answer::new(words.join(" "), &impulses))
}

/// Answers with the hexes that `move` (IN-11) would accept if the unit were selected.
fn reach(state: &State, id: &str) -> Result<Answer, Malformed> {
    let Some(unit) = state.units.iter().find(|unit| unit.id.as_str() == id) else {
        return Err(Malformed(format!("no unit has the id `{}`", id.escape_debug())));
    };
    let hexes: Vec<Hex> = state.board.hexes().filter(|&hex| check_move(state, unit, hex).is_ok()).collect();
    let words: Vec<String> = hexes.iter().map(ToString::to_string).collect();
    Ok(Answer::new(words.join(" "), &hexes))
}
