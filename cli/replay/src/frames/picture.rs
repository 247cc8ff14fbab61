//! A picture as documents carry it: the one place that knows its JSON form (VW-10).

use std::collections::BTreeMap;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use turnfold_core::picture::{Block, Cell, HexBoard, Picture, TextLine, Tint};

/// A picture in which each part has an index of its own: a hex holds one cell, and none is off its board.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FramePicture(Picture);

impl FramePicture {
    /// Returns the picture to draw.
    #[must_use]
    pub fn picture(&self) -> &Picture {
        &self.0
    }

    /// Returns the blocks, from top to bottom.
    pub(super) fn blocks(&self) -> &[Block] {
        &self.0.blocks
    }
}

/// Leaves out what no drawing shows: cells off their board, and those under another one of their hex.
impl From<Picture> for FramePicture {
    fn from(mut picture: Picture) -> Self {
        for block in &mut picture.blocks {
            if let Block::Hexes(HexBoard { board, cells }) = block {
                let on_board = cells.drain(..).filter(|cell| board.contains(cell.at));
                let by_hex: BTreeMap<_, _> = on_board.map(|cell| (cell.at, cell)).collect();
                *cells = by_hex.into_values().collect();
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
            Block::Hexes(HexBoard { board, cells }) => {
                map.serialize_entry("board", &board.radius())?;
                let cell =
                    |cell: &'a Cell| (cell.at.q, cell.at.r, &cell.label, &cell.mark, TintForm(cell.tint));
                map.serialize_entry("cells", &cells.iter().map(cell).collect::<Vec<_>>())?;
            }
            Block::Lines(lines) => {
                map.serialize_entry("lines", &lines.iter().map(LineForm).collect::<Vec<_>>())?;
            }
        }
        map.end()
    }
}

/// What stands on a hex, without the hex.
pub(super) struct CellForm<'a>(pub(super) &'a Cell);

impl Serialize for CellForm<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Cell { label, mark, tint, .. } = self.0;
        (label, mark, TintForm(*tint)).serialize(serializer)
    }
}

/// A line as its spans, each a text and its tint.
pub(super) struct LineForm<'a>(pub(super) &'a TextLine);

impl Serialize for LineForm<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.spans.iter().map(|span| (&span.text, TintForm(span.tint))))
    }
}

struct TintForm(Tint);

impl Serialize for TintForm {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}
