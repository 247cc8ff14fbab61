//! The race drawn: who comes next, and each unit with a bar that fills up to its turn.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::race::TURN_CHARGE;
use super::setup::Team;
use super::state::{State, Unit, UnitIndex};
use super::status::{Duration, Status};
use super::view::projected_queue;
use crate::picture::{Block, Line, Picture, Tint};

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

fn heading(state: &State) -> Vec<Line> {
    let now = match (state.winner(), state.active()) {
        (Some(winner), _) => format!("team {winner} has won"),
        (None, Some((_, unit, _))) => format!("{} acts for {}", unit.id, unit.team.seat()),
        (None, None) => "nobody is active".to_string(),
    };
    let mut queue = Line::plain("next");
    for id in projected_queue(state, QUEUE_LENGTH) {
        let team = state.find(&id).map_or(Tint::Plain, |(_, unit)| tint(unit.team));
        queue = queue.with(" > ", Tint::Faint).with(id.to_string(), team);
    }
    let none_to_come = queue.spans.len() == 1;
    let queue = if none_to_come { Line::plain("nobody comes next: a stalemate") } else { queue };
    Vec::from([Line::plain(format!("time {}, round {}: {now}", state.global_time, state.round)), queue])
}

fn units(state: &State) -> Vec<Line> {
    let id_width = state.units.iter().map(|unit| unit.id.as_str().len()).max().unwrap_or_default();
    let active = state.active().map(|(index, _, _)| index);
    let line = |(index, unit): (UnitIndex, &Unit)| unit_line(unit, active == Some(index), id_width);
    (0..).zip(&state.units).map(line).collect()
}

fn unit_line(unit: &Unit, active: bool, id_width: usize) -> Line {
    let Unit { id, team, hp, max_hp, charge, ap, .. } = unit;
    let mark = match (unit.is_alive(), active) {
        (false, _) => 'x',
        (true, true) => '>',
        (true, false) => ' ',
    };
    let line = Line::default().with(format!("{mark} {team:6} {id:id_width$}"), tint(*team));
    if !unit.is_alive() {
        return line.with("  dead", Tint::Faint);
    }
    let bar_tint = if *charge >= TURN_CHARGE { Tint::Bright } else { Tint::Plain };
    let mut facts = format!("  hp {hp}/{max_hp}  ap {ap}");
    let cooling = unit.skills.iter().filter(|learned| learned.cooldown_left > 0);
    let cooling = cooling.map(|learned| format!("{} in {}", learned.skill.id, learned.cooldown_left));
    for word in unit.statuses.iter().map(status_words).chain(cooling) {
        facts.extend(["  ", &word]);
    }
    line.with(format!("  [{}] {charge:>4}", bar(*charge)), bar_tint).with(facts, Tint::Plain)
}

/// Fills a bar in proportion to the charge; beyond a turn's worth it stays full.
fn bar(charge: u64) -> String {
    let width = u64::try_from(BAR_WIDTH).unwrap_or_default();
    let full = usize::try_from(charge.min(TURN_CHARGE) * width / TURN_CHARGE).unwrap_or_default();
    "#".repeat(full) + &".".repeat(BAR_WIDTH - full)
}

fn status_words(status: &Status) -> String {
    let Status { id, kind, value, duration } = status;
    let kind = kind.name();
    match duration {
        Duration::Turns(turns) => format!("{id} ({kind} {value}, {turns} left)"),
        Duration::Permanent => format!("{id} ({kind} {value})"),
    }
}

fn legend() -> Vec<Line> {
    Vec::from([Line::default().with("> acts  x dead  [####] full at 100 charge", Tint::Faint)])
}
