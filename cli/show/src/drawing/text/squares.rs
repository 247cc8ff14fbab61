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

/// Drawn for a square without a piece.
const NO_PIECE: &str = ".";

/// Draws a board. A marked square has a sign behind its piece and mark.
pub(super) fn draw(grid: &SquareGrid, block: usize, highlights: &Highlights) -> Vec<DrawnLine> {
    let cells: BTreeMap<Square, &SquareCell> = grid.cells.iter().map(|cell| (cell.at, cell)).collect();
    let square = |at: Square| {
        let spot = Spot { block, place: Place::Square(at) };
        let changed = if highlights.changed.contains(&spot) { "*" } else { "" };
        let sign = format!("{changed}{}", if highlights.reach.contains(&spot) { "+" } else { "" });
        (spot, shown(cells.get(&at).copied()), sign)
    };
    let [files, ranks] = lines_of(grid);
    let squares = || grid.board.squares().map(square);
    // A sign of one character takes the place of the space between two squares.
    let least = squares().map(|(_, (text, _), _)| width(&text) + 1).max().unwrap_or_default();
    let needed = squares().map(|(_, (text, _), sign)| width(&text) + width(&sign)).max().unwrap_or_default();
    let step = if highlights.keeps_width { least } else { least.max(needed) };
    let margin = if grid.board.ranks() < 10 { 2 } else { 3 };
    let edge = || {
        let mut line = DrawnLine::default();
        for (index, name) in files.iter().enumerate() {
            line.pad(margin + index * step);
            line.push(file_name(*name), Tint::Faint, None);
        }
        line
    };
    let row = |&rank: &u8| {
        let name = (rank + 1).to_string();
        let mut line = DrawnLine::of(format!("{name:>width$}", width = margin - 1), Tint::Faint, None);
        for (index, at) in files.iter().filter_map(|file| Square::new(*file, rank)).enumerate() {
            line.pad(margin + index * step);
            let (spot, (text, tint), sign) = square(at);
            let has_room = width(&text) + width(&sign) <= step;
            line.push(text, tint, Some(spot));
            if has_room && !sign.is_empty() {
                line.push(sign, Tint::Bright, Some(spot));
            }
        }
        line.pad(margin + files.len() * step);
        line.push(name, Tint::Faint, None);
        line
    };
    [edge()].into_iter().chain(ranks.iter().map(row)).chain([edge()]).collect()
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

/// Returns the letter and mark of a square, and their color.
fn shown(cell: Option<&SquareCell>) -> (String, Tint) {
    let Some(SquareCell { piece, mark, tint, .. }) = cell else { return (NO_PIECE.into(), Tint::Faint) };
    let letter = piece.as_ref().map_or(NO_PIECE, |piece| piece.letter.as_str());
    let of_piece = piece.as_ref().map_or(Tint::Faint, |piece| piece.tint);
    let tint = if *tint == Tint::Plain { of_piece } else { *tint };
    (printable(&format!("{letter}{mark}")).into_owned(), tint)
}
