//! The JSON form of a picture in documents, defined here alone (VW-10).

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};
use turnfold_core::picture::{
    Arrow, Bar, Block, BoardPiece, Cell, Chip, HexBoard, Picture, Piece, PieceRow, SquareCell, SquareGrid,
    TextLine, Tint,
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
        serializer.collect_seq(self.0.blocks.iter().map(block))
    }
}

fn block(block: &Block) -> Value {
    let mut members = Map::new();
    match block {
        Block::Hexes(HexBoard { board, cells, arrows, targets }) => {
            members.insert("board".into(), json!(board.radius()));
            members.insert("cells".into(), list(cells, cell_at));
            if !arrows.is_empty() {
                members.insert("arrows".into(), list(arrows, arrow));
            }
            if !targets.is_empty() {
                members.insert("targets".into(), list(targets, target));
            }
        }
        Block::Grid(SquareGrid { board, flipped, cells, arrows }) => {
            members.insert("grid".into(), json!([board.files(), board.ranks()]));
            if *flipped {
                members.insert("flipped".into(), json!(flipped));
            }
            members.insert("cells".into(), list(cells, square_at));
            if !arrows.is_empty() {
                members.insert("arrows".into(), list(arrows, square_arrow));
            }
        }
        Block::Lines(lines) => drop(members.insert("lines".into(), list(lines, line))),
        Block::Rows(rows) => drop(members.insert("rows".into(), list(rows, row))),
        Block::Bars(bars) => drop(members.insert("bars".into(), list(bars, bar))),
    }
    Value::Object(members)
}

pub(super) fn list<T>(items: &[T], form: fn(&T) -> Value) -> Value {
    items.iter().map(form).collect()
}

/// A hex and its content.
fn cell_at(Cell { at, label, mark, tint }: &Cell) -> Value {
    json!([at.q, at.r, label, mark, tint.to_string()])
}

/// The content of a hex, without the hex.
pub(super) fn cell(Cell { label, mark, tint, .. }: &Cell) -> Value {
    json!([label, mark, tint.to_string()])
}

fn square_at(cell: &SquareCell) -> Value {
    let mut parts = vec![json!(cell.at.to_string())];
    parts.extend(content(cell));
    Value::Array(parts)
}

/// The content of a square, without the square.
pub(super) fn square(cell: &SquareCell) -> Value {
    Value::from_iter(content(cell))
}

/// Glyph and mark, tints of square and piece, name and letter of the piece.
fn content(SquareCell { piece, mark, tint, .. }: &SquareCell) -> [Value; 6] {
    let none =
        BoardPiece { glyph: String::new(), letter: String::new(), name: String::new(), tint: Tint::Plain };
    let BoardPiece { glyph, letter, name, tint: of_piece } = piece.as_ref().unwrap_or(&none);
    let tint = tint.to_string();
    [json!(glyph), json!(mark), json!(tint), json!(of_piece.to_string()), json!(name), json!(letter)]
}

/// An arrow as its tint and the names of the squares it goes through.
pub(super) fn square_arrow(Arrow { tint, path }: &Arrow<Square>) -> Value {
    let mut parts = vec![json!(tint.to_string())];
    parts.extend(path.iter().map(|square| json!(square.to_string())));
    Value::Array(parts)
}

/// An arrow as its tint and the hexes it goes through.
pub(super) fn arrow(Arrow { tint, path }: &Arrow) -> Value {
    let mut parts = vec![json!(tint.to_string())];
    parts.extend(path.iter().map(|hex| json!([hex.q, hex.r])));
    Value::Array(parts)
}

pub(super) fn target((hex, name): &(Hex, String)) -> Value {
    json!([[hex.q, hex.r], name])
}

/// A line as its spans, each a text and its tint.
pub(super) fn line(line: &TextLine) -> Value {
    line.spans.iter().map(|span| json!([span.text, span.tint.to_string()])).collect()
}

/// A row as its label and its pieces; then its own name.
pub(super) fn row(PieceRow { label, pieces, target }: &PieceRow) -> Value {
    named(vec![line(label), list(pieces, piece)], target)
}

/// A piece as its text, its tint, a mark and its name.
fn piece(Piece { text, tint, mark, target }: &Piece) -> Value {
    named(vec![json!(text), json!(tint.to_string()), json!(mark)], target)
}

/// A bar as its label, value, maximum, tint and chips; then its own name.
pub(super) fn bar(Bar { label, value, of, tint, chips, target }: &Bar) -> Value {
    let tint = tint.to_string();
    named(vec![line(label), json!(value), json!(of), json!(tint), list(chips, chip)], target)
}

/// A chip as its text, its tint and its name.
fn chip(Chip { text, tint, target }: &Chip) -> Value {
    named(vec![json!(text), json!(tint.to_string())], target)
}

/// Adds the name of a part, if it has one.
fn named(mut parts: Vec<Value>, name: &str) -> Value {
    if !name.is_empty() {
        parts.push(json!(name));
    }
    Value::Array(parts)
}
