//! Draws the race: the next turns, and each unit with bars of its charge, which fills up to a turn, and its hit points.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::race::TURN_CHARGE;
use super::state::{Active, Done, State, Team, Unit};
use super::status::{Duration, Status};
use super::view::projected_queue;
use turnfold_core::prelude::*;

/// The number of turns in the queue.
const QUEUE_LENGTH: usize = 10;

pub(super) fn picture(state: &State) -> Picture {
    Picture {
        blocks: [
            Block::Lines([heading(state)].into()),
            Block::Rows([queue(state)].into()),
            Block::Bars(units(state)),
            Block::Lines(legend()),
        ]
        .into(),
    }
}

fn tint(team: Team) -> Tint {
    match team {
        Team::Player => Tint::First,
        Team::Enemy => Tint::Second,
    }
}

fn heading(state: &State) -> TextLine {
    let now = match (state.winner(), state.active()) {
        (Some(winner), _) => format!("team {winner} has won"),
        (None, Some(Active { unit, .. })) => format!("{} acts for {}", unit.id, unit.team.seat()),
        (None, None) => "no unit is active".to_string(),
    };
    TextLine::plain(format!("time {}, round {}: {now}", state.global_time, state.round))
}

fn queue(state: &State) -> PieceRow {
    if state.winner().is_some() {
        return PieceRow { label: TextLine::plain("next: none"), ..PieceRow::default() };
    }
    let mut pieces = Vec::new();
    for id in projected_queue(state, QUEUE_LENGTH) {
        let tint = match state.find(&id) {
            Some((_, unit)) => tint(unit.team),
            None => Tint::Plain,
        };
        pieces.push(Piece { text: id.to_string(), tint, mark: String::new(), target: unit_target(&id) });
    }
    let label = if pieces.is_empty() { "next: none, a stalemate" } else { "next:" };
    PieceRow { label: TextLine::plain(label), pieces, target: String::new() }
}

fn units(state: &State) -> Vec<Bar> {
    let id_width = state.units.iter().map(|unit| unit.id.as_str().len()).max().unwrap_or_default();
    let mut bars = Vec::new();
    for (index, unit) in (0..).zip(&state.units) {
        let done = match state.active() {
            Some(active) if active.index == index => Some(active.done),
            _ => None,
        };
        bars.extend(unit_bars(unit, done, id_width));
    }
    bars
}

/// Names a unit as a target of clicks.
pub(super) fn unit_target(id: &Id) -> String {
    format!("unit {id}")
}

/// Names a skill of the active unit as a target of clicks.
pub(super) fn skill_target(id: &Id) -> String {
    format!("skill {id}")
}

/// Draws a unit's charge and hit points; `done` has the actions of the active unit, and is `None` for others.
fn unit_bars(unit: &Unit, done: Option<Done>, id_width: usize) -> [Bar; 2] {
    let Unit { id, team, hp, max_hp, charge, .. } = unit;
    let is_alive = unit.is_alive();
    let mark = match (is_alive, done) {
        (false, _) => 'x',
        (true, Some(_)) => '>',
        (true, None) => ' ',
    };
    let name = format!("{mark} {team:6} {id:id_width$} ");
    let indent = " ".repeat(name.len());
    let charge_tint = if *charge >= TURN_CHARGE { Tint::Bright } else { Tint::Plain };
    let [charge_tint, hp_tint] = if is_alive { [charge_tint, tint(*team)] } else { [Tint::Faint; 2] };
    let charge = Bar {
        label: TextLine::default().with(name, tint(*team)).with("charge", Tint::Faint),
        value: *charge,
        of: TURN_CHARGE,
        tint: charge_tint,
        chips: turn_chips(unit, done),
        target: unit_target(id),
    };
    let hp = Bar {
        label: TextLine::plain(indent).with("hp", Tint::Faint),
        value: u64::from(*hp),
        of: u64::from(*max_hp),
        tint: hp_tint,
        chips: unit.statuses.iter().map(|status| chip(status_words(status), Tint::Bright)).collect(),
        target: unit_target(id),
    };
    [charge, hp]
}

fn chip(text: impl Into<String>, tint: Tint) -> Chip {
    Chip { text: text.into(), tint, target: String::new() }
}

/// Returns what a unit has left and has done: action points, for the active unit its ready skills and its actions, and
/// then the skills in cooldown.
fn turn_chips(unit: &Unit, done: Option<Done>) -> Vec<Chip> {
    if !unit.is_alive() {
        return [chip("dead", Tint::Blocked)].into();
    }
    let mut chips = Vec::from([chip(format!("ap {}", unit.ap), Tint::Plain)]);
    if let Some(done) = done {
        for learned in &unit.skills {
            let id = &learned.skill.id;
            if learned.cooldown_left == 0 {
                chips.push(Chip { target: skill_target(id), ..chip(id.as_str(), Tint::Plain) });
            }
        }
        if done.moved {
            chips.push(chip("moved", Tint::Faint));
        }
        if done.attacked {
            chips.push(chip("attacked", Tint::Faint));
        }
    }
    for learned in &unit.skills {
        if learned.cooldown_left > 0 {
            chips.push(chip(format!("{} in {}", learned.skill.id, learned.cooldown_left), Tint::Faint));
        }
    }
    chips
}

fn status_words(status: &Status) -> String {
    let kind = status.kind;
    let value = if status.value > 0 { format!(" {}", status.value) } else { String::new() };
    let left = match status.duration {
        Duration::Turns(turns) => format!(", {turns} left"),
        Duration::Permanent => String::new(),
    };
    format!("{} ({kind}{value}{left})", status.id)
}

fn legend() -> Vec<TextLine> {
    Vec::from([TextLine::default().with("> acts  x dead  a full charge takes a turn", Tint::Faint)])
}
