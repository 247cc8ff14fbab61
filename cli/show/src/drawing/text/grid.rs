//! The board as characters: flat-top hexes, two rows each.
//!
//! ```text
//! q   -1  0  1
//!     -1 __
//!   0 __/A1\__
//!    /  \__/  \
//!   1\__/b1\__/
//!    /  \<>/  \
//!    \__/##\__/
//!       \##/
//! ```
//!
//! The number at the upper left of a hex is the `r` of the row that runs from it down to the right.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use turnfold_core::Hex;
use turnfold_core::picture::{Cell, HexBoard, Tint};
use turnfold_history::text::printable;

use super::drawn::{DrawnLine, DrawnSpan};
use crate::drawing::place::{Highlights, Place, Spot};

/// Boards up to this radius are drawn whole, larger ones only where something stands.
const WHOLE_RADIUS_MAX: u8 = 12;

/// How many hexes are drawn around what stands on a larger board.
const MARGIN: i32 = 2;

struct Frame {
    q: RangeInclusive<i32>,
    /// The heights of hexes: twice `r`, and one more for each column to the right.
    height: RangeInclusive<i32>,
}

fn height(hex: Hex) -> i32 {
    2 * hex.r + hex.q
}

impl Frame {
    fn of(board: &HexBoard, marked: &BTreeSet<Hex>) -> Self {
        let radius = i32::from(board.board.radius());
        if board.board.radius() <= WHOLE_RADIUS_MAX {
            return Self { q: -radius..=radius, height: -2 * radius..=2 * radius };
        }
        let shown = board.cells.iter().map(|cell| cell.at).chain(marked.iter().copied());
        let hexes: Vec<Hex> = shown.filter(|at| board.board.contains(*at)).collect();
        let columns: Vec<i32> = hexes.iter().map(|at| at.q).collect();
        let heights: Vec<i32> = hexes.iter().map(|at| height(*at)).collect();
        Self { q: around(&columns, MARGIN, radius), height: around(&heights, 2 * MARGIN, 2 * radius) }
    }

    fn contains(&self, hex: Hex) -> bool {
        self.q.contains(&hex.q) && self.height.contains(&height(hex))
    }
}

fn around(values: &[i32], margin: i32, rim: i32) -> RangeInclusive<i32> {
    let least = values.iter().min().unwrap_or(&0);
    let most = values.iter().max().unwrap_or(&0);
    (least - margin).max(-rim)..=(most + margin).min(rim)
}

pub(super) fn draw(board: &HexBoard, block: usize, highlights: &Highlights) -> Vec<DrawnLine> {
    let marked = highlights.hexes(block);
    let frame = Frame::of(board, &marked);
    let radius = i32::from(board.board.radius());
    let mut cells: BTreeMap<Hex, Cell> = BTreeMap::new();
    for Cell { at, label, mark, tint } in &board.cells {
        let label = printable(label).into_owned();
        let mark = printable(mark).into_owned();
        cells.insert(*at, Cell { at: *at, label, mark, tint: *tint });
    }
    // A coordinate may be one character longer than what fits into a hex.
    let least = (length(&(-radius).to_string()) - 1).max(2);
    let room = longest(&cells, least);
    for at in marked {
        let empty = Cell { at, label: String::new(), mark: String::new(), tint: Tint::Bright };
        let Cell { mark, .. } = cells.entry(at).or_insert(empty);
        let changed = if highlights.is_changed(block, Place::Hex(at)) { "*" } else { "" };
        let reach = if highlights.is_in_reach(block, Place::Hex(at)) { "+" } else { "" };
        let sign = format!("{changed}{reach}");
        if !highlights.keeps_width || length(mark) + length(&sign) <= room {
            mark.push_str(&sign);
        }
    }
    let mut grid = Grid { frame, inner: longest(&cells, least), rows: Vec::new() };
    grid.prepare();
    let hexes: Vec<Hex> = board.board.hexes().filter(|&hex| grid.frame.contains(hex)).collect();
    grid.coordinates(&hexes);
    for &hex in &hexes {
        grid.edges(hex);
    }
    for Cell { at, label, mark, tint } in cells.values() {
        if hexes.binary_search(at).is_ok() {
            let (row, column) = grid.place(*at);
            grid.center(row, column + 1, label, *tint);
            grid.center(row + 1, column + 1, mark, *tint);
        }
    }
    let mut lines = grid.into_lines(block);
    let legend = "q above its column, r at the upper left of its row, which runs down to the right";
    lines.push(DrawnLine::of(legend, Tint::Faint, None));
    if hexes.len() < board.board.hexes().count() {
        let part = format!("part of a board of radius {radius}: where something stands");
        lines.push(DrawnLine::of(part, Tint::Faint, None));
    }
    lines
}

fn longest(cells: &BTreeMap<Hex, Cell>, least: i32) -> i32 {
    let mut longest = least;
    for Cell { label, mark, .. } in cells.values() {
        longest = longest.max(length(label)).max(length(mark));
    }
    longest
}

struct Grid {
    frame: Frame,
    /// How many characters fit into a hex.
    inner: i32,
    rows: Vec<Vec<Character>>,
}

#[derive(Clone, Copy)]
struct Character {
    shown: char,
    tint: Tint,
    inside: Option<Hex>,
}

impl Grid {
    fn prepare(&mut self) {
        let Frame { q, height } = &self.frame;
        let columns = (q.end() - q.start() + 2) * self.step() + 1;
        let rows = height.end() - height.start() + 4;
        let empty = Character { shown: ' ', tint: Tint::Plain, inside: None };
        let row = vec![empty; usize::try_from(columns).unwrap_or_default()];
        self.rows = vec![row; usize::try_from(rows).unwrap_or_default()];
    }

    /// The distance of two columns of hexes.
    fn step(&self) -> i32 {
        self.inner + 1
    }

    /// Returns the row and column of a hex's upper left corner. Above the topmost is its upper edge, and above that
    /// the line of columns.
    fn place(&self, hex: Hex) -> (i32, i32) {
        (height(hex) - self.frame.height.start() + 2, (hex.q - self.frame.q.start() + 1) * self.step())
    }

    fn edges(&mut self, hex: Hex) {
        let (row, column) = self.place(hex);
        let right = column + self.step();
        for (row, column, corner) in
            [(row, column, '/'), (row, right, '\\'), (row + 1, column, '\\'), (row + 1, right, '/')]
        {
            self.set(row, column, corner, Tint::Faint);
        }
        for between in column + 1..right {
            self.set(row - 1, between, '_', Tint::Faint);
            self.set(row + 1, between, '_', Tint::Faint);
            self.claim(row, between, hex);
            self.claim(row + 1, between, hex);
        }
    }

    fn coordinates(&mut self, hexes: &[Hex]) {
        self.write(0, 0, "q", Tint::Faint);
        let columns = self.frame.q.clone();
        let longest = length(&columns.start().to_string()).max(length(&columns.end().to_string()));
        // Where numbers would touch, only every second column has one, or every third.
        let every = longest / self.step() + 1;
        for q in columns.filter(|q| q % every == 0) {
            let (_, column) = self.place(Hex::new(q, 0));
            let text = q.to_string();
            self.write(0, column + 1 + (self.inner - length(&text) + 1).div_euclid(2), &text, Tint::Faint);
        }
        let mut first_of_row: BTreeMap<i32, Hex> = BTreeMap::new();
        for &hex in hexes {
            first_of_row.entry(hex.r).or_insert(hex);
        }
        for (r, first) in first_of_row {
            let (row, column) = self.place(Hex::new(first.q - 1, r));
            let text = r.to_string();
            self.write(row, column + self.step() - length(&text), &text, Tint::Faint);
        }
    }

    fn center(&mut self, row: i32, column: i32, text: &str, tint: Tint) {
        self.write(row, column + (self.inner - length(text)).div_euclid(2), text, tint);
    }

    fn write(&mut self, row: i32, column: i32, text: &str, tint: Tint) {
        for (column, character) in (column..).zip(text.chars()) {
            self.set(row, column, character, tint);
        }
    }

    fn set(&mut self, row: i32, column: i32, shown: char, tint: Tint) {
        if let Some(at) = self.at(row, column) {
            *at = Character { shown, tint, ..*at };
        }
    }

    fn claim(&mut self, row: i32, column: i32, hex: Hex) {
        if let Some(at) = self.at(row, column) {
            at.inside = Some(hex);
        }
    }

    fn at(&mut self, row: i32, column: i32) -> Option<&mut Character> {
        let row = self.rows.get_mut(usize::try_from(row).ok()?)?;
        row.get_mut(usize::try_from(column).ok()?)
    }

    fn into_lines(self, block: usize) -> Vec<DrawnLine> {
        let mut lines = Vec::new();
        for row in self.rows {
            let mut spans: Vec<DrawnSpan> = Vec::new();
            for Character { shown, tint, inside } in row {
                let spot = inside.map(|hex| Spot { block, place: Place::Hex(hex) });
                match spans.last_mut() {
                    Some(last) if last.spot == spot && (last.tint == tint || shown == ' ') => {
                        last.text.push(shown);
                    }
                    _ => spans.push(DrawnSpan { text: shown.into(), tint, spot }),
                }
            }
            lines.push(DrawnLine { spans }.trimmed());
        }
        lines
    }
}

fn length(text: &str) -> i32 {
    i32::try_from(text.chars().count()).unwrap_or(i32::MAX)
}
