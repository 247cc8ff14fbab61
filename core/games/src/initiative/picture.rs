//! Draws the board. p1's units have capital letters and p2's small ones, so that sides differ without color.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::state::{Phase, State, Unit};
use super::view::{prompt, status};
use turnfold_core::prelude::*;

pub(super) fn picture(state: &State) -> Picture {
    let labels = labels(state);
    Picture {
        blocks: [
            Block::Lines(heading(state)),
            Block::Hexes(HexBoard {
                board: state.board,
                cells: cells(state, &labels),
                arrows: Vec::new(),
                targets: Vec::new(),
            }),
            Block::Lines(legend(state, &labels)),
        ]
        .into(),
    }
}

/// Names each unit by its player's letter and its number in that player's force: `A1`, `A2`, `b1`.
fn labels(state: &State) -> Vec<String> {
    let mut counts: BTreeMap<Seat, u32> = BTreeMap::new();
    let mut labels = Vec::new();
    for unit in &state.units {
        let count = counts.entry(unit.owner).or_default();
        *count += 1;
        labels.push(format!("{}{count}", if unit.owner == Seat::P1 { 'A' } else { 'b' }));
    }
    labels
}

fn tint(unit: &Unit) -> Tint {
    if unit.owner == Seat::P1 { Tint::First } else { Tint::Second }
}

fn heading(state: &State) -> Vec<TextLine> {
    let phase = match state.phase {
        Phase::Initiative => "initiative",
        Phase::Movement { .. } => "movement",
        Phase::End => "end",
    };
    let mut lines = Vec::from([TextLine::plain(format!("turn {}, {phase}", state.turn))]);
    let status = status(state);
    if !status.is_empty() {
        lines.push(TextLine::plain(status));
    }
    lines.push(TextLine::plain(prompt(state)));
    lines
}

fn cells(state: &State, labels: &[String]) -> Vec<Cell> {
    let mut cells: BTreeMap<Hex, Cell> = BTreeMap::new();
    for &at in &state.blocked {
        cells.insert(at, Cell { at, label: "##".into(), mark: "##".into(), tint: Tint::Blocked });
    }
    for ((index, unit), label) in state.indexed_units().zip(labels) {
        let mark = if state.moved.contains(&index) { "'" } else { "" }.into();
        cells.insert(unit.at, Cell { at: unit.at, label: label.clone(), mark, tint: tint(unit) });
    }
    let at = state.cursor;
    let empty = Cell { at, label: String::new(), mark: String::new(), tint: Tint::Bright };
    let under_cursor = cells.entry(at).or_insert(empty);
    under_cursor.mark = match state.selected_unit() {
        Some(unit) if unit.at == at => "<>".into(),
        _ => "^".into(),
    };
    cells.into_values().collect()
}

fn legend(state: &State, labels: &[String]) -> Vec<TextLine> {
    let mut lines = Vec::new();
    for ((index, unit), label) in state.indexed_units().zip(labels) {
        let Unit { id, owner, name, at, mp } = unit;
        let state_word = if state.selected == Some(index) {
            ", selected"
        } else if state.moved.contains(&index) {
            ", moved"
        } else {
            ""
        };
        let words = format!(" {owner} {name} ({id}) at {at}, mp {mp}{state_word}");
        let line = TextLine::default().with(format!("{label:4}"), tint(unit));
        lines.push(line.with(words, Tint::Plain));
    }
    lines.push(TextLine::default().with("^ cursor  <> selected  ' moved  ## blocked", Tint::Faint));
    lines
}
