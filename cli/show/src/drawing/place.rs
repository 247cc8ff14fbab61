//! Places in a picture, and which of them are marked.

use std::collections::BTreeSet;

use turnfold_core::picture::{Block, HexBoard, Picture};
use turnfold_core::{Hex, Square, TargetPart};

/// A place in a block (VW-10).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// A hex of a board.
    Hex(Hex),
    /// A square of a board.
    Square(Square),
    /// All arrows of a board.
    Arrows,
    /// The hexes of a board that name parts of commands.
    Targets,
    /// The index of a line, row or bar.
    Index(usize),
}

/// A place in a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Spot {
    /// The block's index in the picture.
    pub block: usize,
    /// The place in the block.
    pub place: Place,
}

/// The marked parts of a drawing (VW-35); none by default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Highlights {
    /// What changed.
    pub changed: BTreeSet<Spot>,
    /// The hexes and squares that a viewer's legal commands name.
    pub reach: BTreeSet<Spot>,
    /// Whether a board of characters omits signs that would need wider hexes. The stepper sets it, because its boards follow
    /// each other at one width and it marks changes in another way, too (VW-6).
    pub keeps_width: bool,
}

impl Highlights {
    pub(super) fn is_changed(&self, block: usize, place: Place) -> bool {
        self.changed.contains(&Spot { block, place })
    }

    pub(super) fn is_in_reach(&self, block: usize, place: Place) -> bool {
        self.reach.contains(&Spot { block, place })
    }

    /// Returns the spot of a line, row or bar, and whether it changed.
    pub(super) fn item(&self, block: usize, index: usize) -> (Spot, bool) {
        let place = Place::Index(index);
        (Spot { block, place }, self.is_changed(block, place))
    }

    /// Returns the hexes of a block that are marked, changed or in reach.
    pub(super) fn hexes(&self, block: usize) -> BTreeSet<Hex> {
        let hex = |spot: &Spot| match spot.place {
            Place::Hex(hex) if spot.block == block => Some(hex),
            _ => None,
        };
        self.changed.iter().chain(&self.reach).filter_map(hex).collect()
    }
}

/// Returns the places of the targets of commands in a picture (VW-18, VW-35). The rules decide whether a command is legal.
#[must_use]
pub fn target_spots<'a>(
    picture: &Picture,
    targets: impl IntoIterator<Item = &'a TargetPart>,
) -> BTreeSet<Spot> {
    let is_board = |block: &Block| matches!(block, Block::Hexes(_) | Block::Grid(_));
    let blocks = picture.blocks.iter().enumerate().filter(|(_, block)| is_board(block));
    let boards: Vec<usize> = blocks.map(|(block, _)| block).collect();
    let spots = |target: &TargetPart| {
        let (board, place) = match target {
            TargetPart::Word(_) => return Vec::new(),
            TargetPart::Piece { piece } => return named(picture, piece),
            TargetPart::Hex(board, hex) => (board, Place::Hex(*hex)),
            TargetPart::Square(board, square) => (board, Place::Square(*square)),
        };
        let block = boards.get(usize::from(*board));
        block.map(|&block| Spot { block, place }).into_iter().collect()
    };
    targets.into_iter().flat_map(spots).collect()
}

/// Returns the hexes that have this name in a picture.
fn named(picture: &Picture, name: &str) -> Vec<Spot> {
    let hexes = |(block, content): (usize, &Block)| {
        let Block::Hexes(HexBoard { targets, .. }) = content else { return Vec::new() };
        let named = targets.iter().filter(|(_, other)| other == name);
        named.map(|(hex, _)| Spot { block, place: Place::Hex(*hex) }).collect()
    };
    picture.blocks.iter().enumerate().flat_map(hexes).collect()
}

#[cfg(test)]
mod tests {
    use turnfold_core::picture::{SquareGrid, TextLine};
    use turnfold_core::{Board, SquareBoard};

    use super::*;

    #[test]
    fn boards_are_counted_without_the_other_blocks_of_a_picture() {
        let hexes =
            HexBoard { board: Board::new(1), cells: Vec::new(), arrows: Vec::new(), targets: Vec::new() };
        let board = SquareBoard::new(8, 8);
        let squares = SquareGrid { board, flipped: false, cells: Vec::new(), arrows: Vec::new() };
        let lines = Block::Lines(vec![TextLine::plain("turn 1")]);
        let picture = Picture { blocks: vec![lines, Block::Hexes(hexes), Block::Grid(squares)] };
        let (hex, square) = (Hex::new(1, 0), "e4".parse().unwrap());
        let targets = [TargetPart::Hex(0, hex), TargetPart::Word("x".into()), TargetPart::Square(1, square)];
        let spots =
            [Spot { block: 1, place: Place::Hex(hex) }, Spot { block: 2, place: Place::Square(square) }];
        assert_eq!(target_spots(&picture, &targets), BTreeSet::from(spots));
        assert_eq!(target_spots(&picture, &[TargetPart::Square(2, square)]), BTreeSet::new());
    }
}
