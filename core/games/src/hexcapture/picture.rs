//! Draws the field in view, with cursor and turtle. Colors are letters, so that they differ without color.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::palette::ColorIndex;
use super::state::{Action, Field, State};
use super::view::{chance, mode};
use turnfold_core::prelude::*;

pub(super) fn picture(state: &State) -> Picture {
    Picture {
        blocks: [
            Block::Lines(heading(state)),
            Block::Hexes(HexBoard {
                board: state.board,
                cells: cells(state),
                arrows: Vec::new(),
                targets: ways(state),
            }),
            Block::Lines(legend(state)),
        ]
        .into(),
    }
}

/// Names the colors `A` to `Z`, then `a` to `f`.
fn letter(color: ColorIndex) -> char {
    let index = color.index();
    char::from(if index < 26 { b'A' + index } else { (b'a' - 26).saturating_add(index) })
}

fn arrow(direction: Direction) -> char {
    match direction {
        Direction::N => '↑',
        Direction::Ne => '↗',
        Direction::Se => '↘',
        Direction::S => '↓',
        Direction::Sw => '↙',
        Direction::Nw => '↖',
    }
}

/// Returns where the turtle's head points: to the cursor, and during a release to the hex in front of it. The direction
/// that it faces (HC-2, HC-9) is that of the last cursor move or walk, which may differ.
fn head(state: &State) -> Direction {
    let carried = state.carried_world_hex();
    let ways = Direction::ALL.into_iter();
    let goes_before = ways.clone().find(|way| Some(state.turtle.neighbor(*way)) == carried);
    if state.action == Action::Releasing
        && let Some(way) = goes_before
    {
        return way;
    }
    if state.turtle == state.cursor {
        return goes_before.unwrap_or(state.facing);
    }
    // Of equally near directions, the one with the carried hex is preferred, then the one that the turtle faces.
    let nearest = ways.min_by_key(|way| {
        let before = state.turtle.neighbor(*way);
        (before.distance(state.cursor), Some(before) != carried, *way != state.facing)
    });
    nearest.unwrap_or(state.facing)
}

fn tint(state: &State, color: ColorIndex) -> Tint {
    match state.palette.colors.get(usize::from(color.index())) {
        Some(rgb) => Tint::Rgb(rgb.value()),
        None => Tint::Plain,
    }
}

fn heading(state: &State) -> Vec<TextLine> {
    let State { tick, remaining_seconds, field, .. } = state;
    let mut texts = Vec::from([format!("tick {tick}, {remaining_seconds} s left, {field}: {}", mode(state))]);
    if let Some(carried) = state.carried {
        texts.push(format!("carrying the {} hex at {}", carried.field(), carried.at()));
    }
    match state.action {
        Action::Free => {}
        Action::Held => texts.push("the action is held".into()),
        Action::Charging { since } => {
            texts.push(format!("charging for {} ticks", state.ticks_since(since)));
        }
        Action::Releasing => texts.push(format!("releasing at {}", state.cursor)),
    }
    if state.cooldown > 0 {
        texts.push(format!("cooling down for {} ticks", state.cooldown));
    }
    if let Some(chance) = chance(state) {
        texts.push(format!("chance of a capture: {chance} %"));
    }
    let mut lines: Vec<TextLine> = texts.into_iter().map(TextLine::plain).collect();
    if let Some(due) = state.due_roll() {
        lines.push(TextLine::default().with(format!("a roll is due: {due}"), Tint::Bright));
    }
    lines
}

/// Names a neighbor of the cursor as a target of clicks.
pub(super) fn way_target(way: Direction) -> String {
    format!("to {way}")
}

fn ways(state: &State) -> Vec<(Hex, String)> {
    let mut ways = Vec::from(Direction::ALL.map(|way| (state.cursor.neighbor(way), way_target(way))));
    ways.retain(|(hex, _)| state.board.contains(*hex));
    ways
}

fn cells(state: &State) -> Vec<Cell> {
    let grid = match state.field {
        Field::World => &state.world,
        Field::Inventory => &state.inventory,
    };
    let mut cells = BTreeMap::new();
    for (at, color) in grid.colored(state.board) {
        let label = format!(" {} ", letter(color));
        cells.insert(at, Cell { at, label, mark: String::new(), tint: tint(state, color) });
    }
    if let Some(carried) = state.carried
        && carried.field() == state.field
        && let Some(cell) = cells.get_mut(&carried.at())
    {
        cell.label = format!("[{}]", cell.label.trim());
    }
    if state.field == Field::World {
        mark(&mut cells, state.turtle, &format!("@{}", arrow(head(state))));
    }
    mark(&mut cells, state.cursor, "^");
    cells.into_values().collect()
}

/// Adds a mark to a cell, which may be empty.
fn mark(cells: &mut BTreeMap<Hex, Cell>, at: Hex, mark: &str) {
    let empty = Cell { at, label: String::new(), mark: String::new(), tint: Tint::Bright };
    cells.entry(at).or_insert(empty).mark.push_str(mark);
}

/// HC-13, HC-17: lists the chance, the eaten hexes and the adjacency score of each color.
fn legend(state: &State) -> Vec<TextLine> {
    let adjacent = state.world.adjacent(state.board, state.palette.colors.len());
    let mut lines = Vec::new();
    for (index, ((rgb, eaten), adjacent)) in
        (0..).zip(state.palette.colors.iter().zip(&state.eaten).zip(adjacent))
    {
        let color = ColorIndex::new(index);
        let chance = state.palette.chance(color);
        let words = format!("  chance {chance:3} %, eaten {eaten}, next to their like {adjacent}");
        let line = TextLine::default().with(format!("{} {rgb}", letter(color)), tint(state, color));
        lines.push(line.with(words, Tint::Plain));
    }
    lines.push(TextLine::default().with("^ cursor  @ turtle and where it looks  [ ] carried", Tint::Faint));
    lines
}
