//! Draws the board. p1's units have capital letters and p2's small ones, so that sides differ without color.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::order::Task;
use super::state::{PLAYERS, Phase, Pool, State, Tap, Unit, UnitId, UnitKind};
use super::view::{phase_name, tap_name};
use turnfold_core::prelude::*;
use turnfold_core::text::joined_by;

const LEGEND: &str = "<> origin  +1 path being built  [] defends  x attacked  .1 waypoint  ~~ water";

pub(super) fn picture(state: &State, viewer: Perspective) -> Picture {
    Picture {
        blocks: [
            Block::Lines(heading(state, viewer)),
            Block::Hexes(HexBoard {
                board: state.board,
                cells: cells(state, viewer),
                arrows: arrows(state, viewer),
                targets: Vec::new(),
            }),
            Block::Lines(legend(state, viewer)),
        ]
        .into(),
    }
}

/// Names a unit by its kind and number: `O1` is p1's officer `u1`, `i2` is p2's infantry `u2`.
fn label(id: UnitId, unit: &Unit) -> String {
    let letter = match unit.kind {
        UnitKind::Infantry => 'I',
        UnitKind::Cavalry => 'V',
        UnitKind::Officer => 'O',
        UnitKind::Captain => 'C',
    };
    let letter = if unit.owner == Seat::P1 { letter } else { letter.to_ascii_lowercase() };
    format!("{letter}{}", id.0)
}

fn tint(seat: Seat) -> Tint {
    if seat == Seat::P1 { Tint::First } else { Tint::Second }
}

fn way(from: Option<Hex>, path: &[Hex]) -> String {
    joined_by(" > ", from.iter().chain(path))
}

fn heading(state: &State, viewer: Perspective) -> Vec<TextLine> {
    let turn = format!("turn {}, {}", state.turn, phase_name(&state.phase));
    let mut lines = Vec::from([TextLine::plain(match &state.phase {
        Phase::Planning(planning) => format!("{turn} by {}", planning.seat),
        Phase::Execution => turn,
        Phase::Over { winner: Some(winner) } => format!("{turn}: {winner} wins"),
        Phase::Over { winner: None } => format!("{turn}: no one wins"),
    })]);
    for (seat, pool) in PLAYERS.into_iter().zip(state.pools_seen_by(viewer)) {
        let orders = match pool {
            Some(Pool { total, used, available }) => {
                format!(" orders: {used} of {total} used, {available} available")
            }
            None => String::from(" orders: secret"),
        };
        lines.push(TextLine::default().with(seat.name(), tint(seat)).with(orders, Tint::Plain));
    }
    if let Some(tap) = state.tap_seen_by(viewer) {
        lines.push(TextLine::default().with(tap_line(state, tap), Tint::Bright));
    }
    lines
}

fn tap_line(state: &State, tap: &Tap) -> String {
    let Some((id, unit)) = state.origin(tap) else { return String::from(tap_name(tap)) };
    let name = format!("{} {}", tap_name(tap), label(id, unit));
    match tap {
        Tap::PathBuilding(path) => {
            format!("{name}: {} {}", path.kind, way(Some(unit.at), &path.waypoints))
        }
        _ => format!("{name} at {}", unit.at),
    }
}

fn cells(state: &State, viewer: Perspective) -> Vec<Cell> {
    let mut cells: BTreeMap<Hex, Cell> = BTreeMap::new();
    for &at in &state.water {
        cells.insert(at, Cell { at, label: "~~".into(), mark: "~~".into(), tint: Tint::Blocked });
    }
    for (&id, unit) in &state.units {
        let at = unit.at;
        cells.insert(at, Cell { at, label: label(id, unit), mark: String::new(), tint: tint(unit.owner) });
    }
    for (at, mark, tint) in marks(state, viewer) {
        let empty = Cell { at, label: String::new(), mark: String::new(), tint };
        cells.entry(at).or_insert(empty).mark = mark;
    }
    cells.into_values().collect()
}

/// Returns arrows for orders that lead somewhere and for the path being built. Legend and heading show them in words.
fn arrows(state: &State, viewer: Perspective) -> Vec<Arrow> {
    let mut arrows = Vec::new();
    for (seat, _, order) in state.orders_seen_by(viewer) {
        arrows.extend(arrow(state, order.unit, order.task.path(), tint(seat)));
    }
    if let Some(Tap::PathBuilding(path)) = state.tap_seen_by(viewer) {
        arrows.extend(arrow(state, path.unit, &path.waypoints, Tint::Bright));
    }
    arrows
}

/// Returns the arrow of a unit along a path, if the path leads anywhere.
fn arrow(state: &State, unit: UnitId, path: &[Hex], tint: Tint) -> Option<Arrow> {
    if path.is_empty() {
        return None;
    }
    let from = state.units.get(&unit)?.at;
    Some(Arrow { tint, path: [&[from], path].concat() })
}

/// Returns the marks of orders and taps. If a hex has several, the last one is shown. Only the mark of a defending unit
/// has the color of a side.
fn marks(state: &State, viewer: Perspective) -> Vec<(Hex, String, Tint)> {
    let mut waypoints = Vec::new();
    let mut attacks = Vec::new();
    let mut defenses = Vec::new();
    for (seat, _, order) in state.orders_seen_by(viewer) {
        match &order.task {
            Task::Path(_, path) => waypoints.extend(numbered('.', path, Tint::Faint)),
            Task::Attack(target) => attacks.push((*target, "x".into(), Tint::Faint)),
            Task::Defense => {
                if let Some(unit) = state.units.get(&order.unit) {
                    defenses.push((unit.at, "[]".into(), tint(seat)));
                }
            }
        }
    }
    let mut marks = [waypoints, attacks, defenses].concat();
    if let Some(tap) = state.tap_seen_by(viewer) {
        if let Tap::PathBuilding(path) = tap {
            marks.extend(numbered('+', &path.waypoints, Tint::Bright));
        }
        if let Some((_, unit)) = state.origin(tap) {
            marks.push((unit.at, "<>".into(), Tint::Bright));
        }
    }
    marks
}

/// Marks the hexes of a path with a sign and their position on the path.
fn numbered(sign: char, path: &[Hex], tint: Tint) -> impl Iterator<Item = (Hex, String, Tint)> {
    (1_u32..).zip(path).map(move |(number, &at)| (at, format!("{sign}{number}"), tint))
}

fn legend(state: &State, viewer: Perspective) -> Vec<TextLine> {
    let mut lines = Vec::from([TextLine::default().with(LEGEND, Tint::Faint)]);
    for (&id, unit) in &state.units {
        let Unit { owner, kind, at, strength } = unit;
        let words = format!(" {owner} {kind} ({id}) at {at}, strength {strength}");
        let line = TextLine::default().with(format!("{:4}", label(id, unit)), tint(*owner));
        lines.push(line.with(words, Tint::Plain));
    }
    // Orders come and go, so they are last and move nothing else.
    for (seat, number, order) in state.orders_seen_by(viewer) {
        let mut name = String::new();
        let mut from = None;
        if let Some(unit) = state.units.get(&order.unit) {
            name = label(order.unit, unit);
            from = Some(unit.at);
        }
        let way = way(from, order.task.path());
        let line = TextLine::default().with(format!("{seat} #{number}"), tint(seat));
        lines.push(line.with(format!(" {name} {} {way}", order.task.kind()), Tint::Plain));
    }
    lines
}
