//! The JSON form of a picture in documents, defined here alone (VW-10).

use std::collections::BTreeMap;

use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Serialize, Serializer};
use turnfold_core::picture::{
    Arrow, Bar, Block, BoardPiece, Cell, Chip, HexBoard, Picture, Piece, PieceRow, Span, SquareCell,
    SquareGrid, TextLine, Tint,
};
use turnfold_core::{Hex, Square};

/// A picture whose parts all have different places: each hex or square has at most one cell, and no cell is off the board.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FramePicture(Picture);

impl FramePicture {
    /// Returns the picture to draw.
    #[must_use]
    pub fn picture(&self) -> &Picture {
        &self.0
    }

    pub(super) fn blocks(&self) -> &[Block] {
        &self.0.blocks
    }
}

/// Drops what no drawing shows: cells off their board, and all but the last cell of a hex or square.
impl From<Picture> for FramePicture {
    fn from(mut picture: Picture) -> Self {
        for block in &mut picture.blocks {
            match block {
                Block::Hexes(HexBoard { board, cells, targets, .. }) => {
                    targets.retain(|(hex, _)| board.contains(*hex));
                    let on_board = cells.drain(..).filter(|cell| board.contains(cell.at));
                    let by_hex: BTreeMap<_, _> = on_board.map(|cell| (cell.at, cell)).collect();
                    *cells = by_hex.into_values().collect();
                }
                Block::Grid(SquareGrid { board, cells, .. }) => {
                    let on_board = cells.drain(..).filter(|cell| board.contains(cell.at));
                    let by_square: BTreeMap<_, _> = on_board.map(|cell| (cell.at, cell)).collect();
                    *cells = by_square.into_values().collect();
                }
                Block::Lines(_) | Block::Rows(_) | Block::Bars(_) => {}
            }
        }
        Self(picture)
    }
}

impl Serialize for FramePicture {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.blocks.iter().map(BlockForm))
    }
}

struct BlockForm<'a>(&'a Block);

impl<'a> Serialize for BlockForm<'a> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        match self.0 {
            Block::Hexes(HexBoard { board, cells, arrows, targets }) => {
                map.serialize_entry("board", &board.radius())?;
                let cell =
                    |cell: &'a Cell| (cell.at.q, cell.at.r, &cell.label, &cell.mark, TintForm(cell.tint));
                map.serialize_entry("cells", &cells.iter().map(cell).collect::<Vec<_>>())?;
                if !arrows.is_empty() {
                    map.serialize_entry("arrows", &forms(arrows, ArrowForm))?;
                }
                if !targets.is_empty() {
                    map.serialize_entry("targets", &forms(targets, target))?;
                }
            }
            Block::Grid(SquareGrid { board, flipped, cells, arrows }) => {
                map.serialize_entry("grid", &(board.files(), board.ranks()))?;
                if *flipped {
                    map.serialize_entry("flipped", flipped)?;
                }
                map.serialize_entry("cells", &forms(cells, SquareAtForm))?;
                if !arrows.is_empty() {
                    map.serialize_entry("arrows", &forms(arrows, SquareArrowForm))?;
                }
            }
            Block::Lines(lines) => map.serialize_entry("lines", &forms(lines, LineForm))?,
            Block::Rows(rows) => map.serialize_entry("rows", &forms(rows, RowForm))?,
            Block::Bars(bars) => map.serialize_entry("bars", &forms(bars, BarForm))?,
        }
        map.end()
    }
}

fn forms<'a, T, F>(items: &'a [T], form: fn(&'a T) -> F) -> Vec<F> {
    items.iter().map(form).collect()
}

/// The content of a hex, without the hex.
pub(super) struct CellForm<'a>(pub(super) &'a Cell);

impl Serialize for CellForm<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Cell { label, mark, tint, .. } = self.0;
        (label, mark, TintForm(*tint)).serialize(serializer)
    }
}

/// The content of a square, without the square: glyph and mark, tints of square and piece, name and letter of the piece.
pub(super) struct SquareForm<'a>(pub(super) &'a SquareCell);

impl Serialize for SquareForm<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(None)?;
        content(&mut list, self.0)?;
        list.end()
    }
}

struct SquareAtForm<'a>(&'a SquareCell);

impl Serialize for SquareAtForm<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(None)?;
        list.serialize_element(&self.0.at.to_string())?;
        content(&mut list, self.0)?;
        list.end()
    }
}

fn content<L: SerializeSeq>(list: &mut L, cell: &SquareCell) -> Result<(), L::Error> {
    const NONE: &BoardPiece =
        &BoardPiece { glyph: String::new(), letter: String::new(), name: String::new(), tint: Tint::Plain };
    let SquareCell { piece, mark, tint, .. } = cell;
    let BoardPiece { glyph, letter, name, tint: of_piece } = piece.as_ref().unwrap_or(NONE);
    list.serialize_element(glyph)?;
    list.serialize_element(mark)?;
    list.serialize_element(&TintForm(*tint))?;
    list.serialize_element(&TintForm(*of_piece))?;
    list.serialize_element(name)?;
    list.serialize_element(letter)
}

/// An arrow as its tint and the names of the squares it goes through.
pub(super) struct SquareArrowForm<'a>(pub(super) &'a Arrow<Square>);

impl Serialize for SquareArrowForm<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Arrow { tint, path } = self.0;
        serializer.collect_seq([tint.to_string()].into_iter().chain(path.iter().map(ToString::to_string)))
    }
}

/// A line as its spans, each a text and its tint.
pub(super) struct LineForm<'a>(pub(super) &'a TextLine);

impl Serialize for LineForm<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.spans.iter().map(SpanForm))
    }
}

/// An arrow as its tint and the hexes it goes through.
pub(super) struct ArrowForm<'a>(pub(super) &'a Arrow);

impl Serialize for ArrowForm<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Arrow { tint, path } = self.0;
        let mut list = serializer.serialize_seq(Some(1 + path.len()))?;
        list.serialize_element(&TintForm(*tint))?;
        for hex in path {
            list.serialize_element(&(hex.q, hex.r))?;
        }
        list.end()
    }
}

pub(super) fn target((hex, name): &(Hex, String)) -> ((i32, i32), &str) {
    ((hex.q, hex.r), name)
}

/// A row as its label and its pieces, each a text, its tint, a mark and its name; then its own name.
pub(super) struct RowForm<'a>(pub(super) &'a PieceRow);

impl Serialize for RowForm<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let PieceRow { label, pieces, target } = self.0;
        let mut list = serializer.serialize_seq(None)?;
        list.serialize_element(&LineForm(label))?;
        list.serialize_element(&forms(pieces, PieceForm))?;
        name(&mut list, target)?;
        list.end()
    }
}

struct PieceForm<'a>(&'a Piece);

impl Serialize for PieceForm<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Piece { text, tint, mark, target } = self.0;
        let mut list = serializer.serialize_seq(None)?;
        list.serialize_element(text)?;
        list.serialize_element(&TintForm(*tint))?;
        list.serialize_element(mark)?;
        name(&mut list, target)?;
        list.end()
    }
}

fn name<L: SerializeSeq>(list: &mut L, name: &str) -> Result<(), L::Error> {
    if name.is_empty() { Ok(()) } else { list.serialize_element(name) }
}

/// A bar as its label, value, maximum, tint, chips, each a text, its tint and its name, and its own name.
pub(super) struct BarForm<'a>(pub(super) &'a Bar);

impl Serialize for BarForm<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Bar { label, value, of, tint, chips, target } = self.0;
        let mut list = serializer.serialize_seq(None)?;
        list.serialize_element(&LineForm(label))?;
        list.serialize_element(value)?;
        list.serialize_element(of)?;
        list.serialize_element(&TintForm(*tint))?;
        list.serialize_element(&forms(chips, ChipForm))?;
        name(&mut list, target)?;
        list.end()
    }
}

struct ChipForm<'a>(&'a Chip);

impl Serialize for ChipForm<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Chip { text, tint, target } = self.0;
        let mut list = serializer.serialize_seq(None)?;
        list.serialize_element(text)?;
        list.serialize_element(&TintForm(*tint))?;
        name(&mut list, target)?;
        list.end()
    }
}

struct SpanForm<'a>(&'a Span);

impl Serialize for SpanForm<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (&self.0.text, TintForm(self.0.tint)).serialize(serializer)
    }
}

struct TintForm(Tint);

impl Serialize for TintForm {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}
