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

    pub(super) fn hexes(&self, block: usize) -> BTreeSet<Hex> {
        let mut hexes = BTreeSet::new();
        for spot in self.changed.iter().chain(&self.reach) {
            if let Place::Hex(hex) = spot.place
                && spot.block == block
            {
                hexes.insert(hex);
            }
        }
        hexes
    }
}

/// Returns the places of the targets of commands in a picture (VW-18, VW-35). The rules decide whether a command is legal.
#[must_use]
pub fn target_spots<'a>(
    picture: &Picture,
    targets: impl IntoIterator<Item = &'a TargetPart>,
) -> BTreeSet<Spot> {
    let mut boards = Vec::new();
    for (block, content) in picture.blocks.iter().enumerate() {
        if matches!(content, Block::Hexes(_) | Block::Grid(_)) {
            boards.push(block);
        }
    }
    let mut spots = BTreeSet::new();
    for target in targets {
        match target {
            TargetPart::Word(_) => {}
            TargetPart::Piece { piece } => spots.extend(named(picture, piece)),
            TargetPart::Hex(board, hex) => spots.extend(on_board(&boards, *board, Place::Hex(*hex))),
            TargetPart::Square(board, square) => {
                spots.extend(on_board(&boards, *board, Place::Square(*square)));
            }
        }
    }
    spots
}

fn on_board(boards: &[usize], board: u8, place: Place) -> Option<Spot> {
    Some(Spot { block: *boards.get(usize::from(board))?, place })
}

fn named(picture: &Picture, name: &str) -> Vec<Spot> {
    let mut spots = Vec::new();
    for (block, content) in picture.blocks.iter().enumerate() {
        let Block::Hexes(HexBoard { targets, .. }) = content else { continue };
        for (hex, other) in targets {
            if other == name {
                spots.push(Spot { block, place: Place::Hex(*hex) });
            }
        }
    }
    spots
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
