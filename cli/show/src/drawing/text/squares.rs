//! A board of squares as characters: a letter for each piece, a point for an empty square.
//!
//! ```text
//!   a b c
//! 3 n . K 3
//! 2 . P . 2
//! 1 . . . 1
//!   a b c
//! ```

use std::collections::BTreeMap;

use turnfold_core::Square;
use turnfold_core::picture::{SquareCell, SquareGrid, Tint};
use turnfold_history::text::printable;

use super::drawn::{DrawnLine, width};
use crate::drawing::place::{Highlights, Place, Spot};

const NO_PIECE: &str = ".";

pub(super) fn draw(grid: &SquareGrid, block: usize, highlights: &Highlights) -> Vec<DrawnLine> {
    let cells: BTreeMap<Square, &SquareCell> = grid.cells.iter().map(|cell| (cell.at, cell)).collect();
    let mut squares = BTreeMap::new();
    // A sign of one character takes the place of the space between two squares.
    let mut step = 0;
    for at in grid.board.squares() {
        let mut square = shown(cells.get(&at).copied());
        let changed = if highlights.is_changed(block, Place::Square(at)) { "*" } else { "" };
        let reach = if highlights.is_in_reach(block, Place::Square(at)) { "+" } else { "" };
        square.sign = format!("{changed}{reach}");
        step = step.max(width(&square.text) + 1);
        if !highlights.keeps_width {
            step = step.max(width(&square.text) + width(&square.sign));
        }
        squares.insert(at, square);
    }
    let margin = if grid.board.ranks() < 10 { 2 } else { 3 };
    let [files, ranks] = lines_of(grid);
    let mut edge = DrawnLine::default();
    for (index, file) in files.iter().enumerate() {
        edge.pad(margin + index * step);
        edge.push(file_name(*file), Tint::Faint, None);
    }
    let mut lines = vec![edge.clone()];
    for rank in ranks {
        let name = (rank + 1).to_string();
        let mut line = DrawnLine::of(format!("{name:>width$}", width = margin - 1), Tint::Faint, None);
        for (index, file) in files.iter().enumerate() {
            let Some(at) = Square::new(*file, rank) else { continue };
            let Some(ShownSquare { text, tint, sign }) = squares.get(&at) else { continue };
            let spot = Some(Spot { block, place: Place::Square(at) });
            line.pad(margin + index * step);
            line.push(text, *tint, spot);
            if !sign.is_empty() && width(text) + width(sign) <= step {
                line.push(sign, Tint::Bright, spot);
            }
        }
        line.pad(margin + files.len() * step);
        line.push(name, Tint::Faint, None);
        lines.push(line);
    }
    lines.push(edge);
    lines
}

struct ShownSquare {
    text: String,
    tint: Tint,
    sign: String,
}

/// Returns the files from left to right and the ranks from top to bottom.
fn lines_of(grid: &SquareGrid) -> [Vec<u8>; 2] {
    let files = 0..grid.board.files();
    let ranks = 0..grid.board.ranks();
    if grid.flipped {
        [files.rev().collect(), ranks.collect()]
    } else {
        [files.collect(), ranks.rev().collect()]
    }
}

pub(in crate::drawing) fn file_name(file: u8) -> String {
    char::from(b'a'.saturating_add(file)).into()
}

/// Returns a square as its letter and mark, without a sign yet.
fn shown(cell: Option<&SquareCell>) -> ShownSquare {
    let mut text = NO_PIECE.to_owned();
    let mut color = Tint::Faint;
    if let Some(SquareCell { piece, mark, tint, .. }) = cell {
        let mut letter = NO_PIECE;
        if let Some(piece) = piece {
            letter = &piece.letter;
            color = piece.tint;
        }
        if *tint != Tint::Plain {
            color = *tint;
        }
        text = printable(&format!("{letter}{mark}")).into_owned();
    }
    ShownSquare { text, tint: color, sign: String::new() }
}
