//! The race drawn: who comes next, and each unit with a bar that fills up to its turn.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::race::TURN_CHARGE;
use super::state::{Active, Done, State, Unit, UnitIndex};
use super::status::Status;
use super::team::Team;
use super::view::projected_queue;
use crate::picture::{Block, Picture, TextLine, Tint};

/// The characters of a full bar.
const BAR_WIDTH: usize = 20;
/// How many turns the queue shows.
const QUEUE_LENGTH: usize = 10;

pub(super) fn picture(state: &State) -> Picture {
    let blocks = [heading(state), units(state), legend()].map(Block::Lines);
    Picture { blocks: blocks.into() }
}

fn tint(team: Team) -> Tint {
    match team {
        Team::Player => Tint::First,
        Team::Enemy => Tint::Second,
    }
}

fn heading(state: &State) -> Vec<TextLine> {
    let winner = state.winner();
    let now = match (winner, state.active()) {
        (Some(winner), _) => format!("team {winner} has won"),
        (None, Some(Active { unit, .. })) => format!("{} acts for {}", unit.id, unit.team.seat()),
        (None, None) => "nobody is active".to_string(),
    };
    let mut lines =
        Vec::from([TextLine::plain(format!("time {}, round {}: {now}", state.global_time, state.round))]);
    if winner.is_none() {
        lines.push(queue(state));
    }
    lines
}

fn queue(state: &State) -> TextLine {
    let mut line = TextLine::plain("next:");
    for id in projected_queue(state, QUEUE_LENGTH) {
        let tint = state.find(&id).map_or(Tint::Plain, |(_, unit)| tint(unit.team));
        line = line.with(" ", Tint::Plain).with(id.to_string(), tint);
    }
    let somebody = line.spans.len() > 1;
    if somebody { line } else { line.with(" nobody, a stalemate", Tint::Plain) }
}

fn units(state: &State) -> Vec<TextLine> {
    let active = state.active();
    let done = |index| active.filter(|active| active.index == index).map(|active| active.done);
    let id_width = state.units.iter().map(|unit| unit.id.as_str().len()).max().unwrap_or_default();
    let charge_width = state.units.iter().map(|unit| unit.charge.to_string().len()).max().unwrap_or_default();
    let line = |(index, unit): (UnitIndex, &Unit)| unit_line(unit, done(index), [id_width, charge_width]);
    (0..).zip(&state.units).map(line).collect()
}

/// Draws a unit; `done` is what it has done if it is the active one.
fn unit_line(unit: &Unit, done: Option<Done>, [id_width, charge_width]: [usize; 2]) -> TextLine {
    let Unit { id, team, hp, max_hp, charge, ap, .. } = unit;
    let mark = match (unit.is_alive(), done) {
        (false, _) => 'x',
        (true, Some(_)) => '>',
        (true, None) => ' ',
    };
    let line = TextLine::default().with(format!("{mark} {team:6} {id:id_width$}"), tint(*team));
    if !unit.is_alive() {
        return line.with("  dead", Tint::Faint);
    }
    let bar_tint = if *charge >= TURN_CHARGE { Tint::Bright } else { Tint::Plain };
    line.with(format!("  [{}] {charge:>charge_width$}", bar(*charge)), bar_tint)
        .with(format!("  hp {hp}/{max_hp}  ap {ap}"), Tint::Plain)
        .with(details(unit, done.unwrap_or_default()), Tint::Plain)
}

/// What a unit has done in its turn, its statuses and the skills it waits for; each after two spaces.
fn details(unit: &Unit, done: Done) -> String {
    let done = [(done.moved, "moved"), (done.attacked, "attacked")].into_iter();
    let done = done.filter(|(is_done, _)| *is_done).map(|(_, word)| word.to_string());
    let statuses = unit.statuses.iter().map(status_words);
    let cooling = unit.skills.iter().filter(|learned| learned.cooldown_left > 0);
    let cooling = cooling.map(|learned| format!("{} in {}", learned.skill.id, learned.cooldown_left));
    done.chain(statuses).chain(cooling).flat_map(|words| [String::from("  "), words]).collect()
}

/// Fills a bar in proportion to the charge; beyond a turn's worth it stays full.
fn bar(charge: u64) -> String {
    let width = u64::try_from(BAR_WIDTH).unwrap_or_default();
    let full = usize::try_from(charge.min(TURN_CHARGE) * width / TURN_CHARGE).unwrap_or_default();
    "#".repeat(full) + &".".repeat(BAR_WIDTH - full)
}

fn status_words(status: &Status) -> String {
    let kind = status.kind;
    let value = if status.value > 0 { format!(" {}", status.value) } else { String::new() };
    let left = status.duration.turns().map_or_else(String::new, |turns| format!(", {turns} left"));
    format!("{} ({kind}{value}{left})", status.id)
}

fn legend() -> Vec<TextLine> {
    Vec::from([TextLine::default().with("> acts  x dead  [####] full at 100 charge", Tint::Faint)])
}
