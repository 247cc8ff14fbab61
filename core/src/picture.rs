//! A drawing of what a viewer sees, from which characters, SVG or a page are made.

use core::fmt;

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::hex::{Board, Hex};
use crate::square::{Square, SquareBoard};

/// What a viewer sees, block below block.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Picture {
    /// The blocks, from top to bottom.
    pub blocks: Vec<Block>,
}

/// A part of a picture.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Block {
    /// A board of hexes.
    Hexes(HexBoard),
    /// A board of squares.
    Grid(SquareGrid),
    /// Rows of pieces, such as a player's board. Successive blocks of rows are put side by side if there is
    /// room.
    Rows(Vec<PieceRow>),
    /// Bars, such as hit points.
    Bars(Vec<Bar>),
    /// Lines of text, such as a legend.
    Lines(Vec<TextLine>),
}

/// A line of text in parts of different color.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TextLine {
    /// The parts, from left to right.
    pub spans: Vec<Span>,
}

impl TextLine {
    /// Returns a line of one plain part.
    #[must_use]
    pub fn plain(text: impl Into<String>) -> Self {
        Self::default().with(text, Tint::Plain)
    }

    /// Adds a part at the end.
    #[must_use]
    pub fn with(mut self, text: impl Into<String>, tint: Tint) -> Self {
        self.spans.push(Span { text: text.into(), tint });
        self
    }
}

/// A piece of text in one color.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Span {
    /// The text, without line breaks.
    pub text: String,
    /// Its color; never the only sign of a difference.
    pub tint: Tint,
}

/// A board of hexes; those not listed are empty.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HexBoard {
    /// The board's extent.
    pub board: Board,
    /// The hexes with something in them, by q, then r.
    pub cells: Vec<Cell>,
    /// The arrows over the hexes, the lowest first. Characters cannot show them: add a line of text, too.
    pub arrows: Vec<Arrow>,
    /// The hexes that name a part of commands: [`TargetPart::Piece`](crate::targets::TargetPart::Piece) (VW-43).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<(Hex, String)>,
}

/// An arrow over the hexes or squares of a board, such as an order to move (VW-34).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Arrow<P = Hex> {
    /// The color.
    pub tint: Tint,
    /// The hexes or squares from the start to the end: two at least.
    pub path: Vec<P>,
}

/// A board of squares in two shades, with the names of its files and ranks around it; squares not listed are empty.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SquareGrid {
    /// The board's extent.
    pub board: SquareBoard,
    /// Whether it is seen from the far side: the first rank above, files from right to left.
    pub flipped: bool,
    /// The squares with something in them, by rank, then file.
    pub cells: Vec<SquareCell>,
    /// The arrows over the squares, the lowest first. Characters cannot show them: add a line of text, too.
    pub arrows: Vec<Arrow<Square>>,
}

/// A square with something in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SquareCell {
    /// Where it is.
    pub at: Square,
    /// The piece there, if there is one.
    pub piece: Option<BoardPiece>,
    /// A second, smaller mark, such as one for a king in check; may be empty.
    pub mark: String,
    /// The color of the square; [`Plain`](Tint::Plain) leaves it its shade.
    pub tint: Tint,
}

/// A piece on a square.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BoardPiece {
    /// What it looks like, such as `♞`: one character, or a few.
    pub glyph: String,
    /// Its sign in plain characters, such as `n`; understood without color.
    pub letter: String,
    /// What it is in words, such as `black knight`, for readers who do not see it.
    pub name: String,
    /// The color. A color of the game itself has an outline that stands out on every square.
    pub tint: Tint,
}

/// A row of pieces (VW-34); without pieces, a heading for those below.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PieceRow {
    /// What the row is.
    pub label: TextLine,
    /// The pieces, from left to right.
    pub pieces: Vec<Piece>,
    /// The part of commands that the row stands for (VW-43); may be empty. After a seat, as in `p1 row 2`, it is a part of
    /// this seat's commands alone.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub target: String,
}

/// A piece of a row, drawn as a disc (VW-34).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Piece {
    /// What it is, a few characters; understood without color. Empty for a place without a piece.
    pub text: String,
    /// The color.
    pub tint: Tint,
    /// A mark next to it, such as one for a piece that may move; may be empty.
    pub mark: String,
    /// The part of commands that it stands for (VW-43); may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub target: String,
}

/// A bar that fills up (VW-34).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bar {
    /// What is measured.
    pub label: TextLine,
    /// How much there is.
    pub value: u64,
    /// How much makes the bar full; more does not fit.
    pub of: u64,
    /// The color of the full part.
    pub tint: Tint,
    /// Short labels after the bar, such as a unit's statuses.
    pub chips: Vec<Chip>,
    /// The part of commands that the bar stands for (VW-43); may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub target: String,
}

/// A short label after a bar (VW-34).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Chip {
    /// The text, without line breaks.
    pub text: String,
    /// Its color; never the only sign of a difference.
    pub tint: Tint,
    /// The part of commands that it stands for (VW-43); may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub target: String,
}

/// A hex with something in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cell {
    /// Where it is.
    pub at: Hex,
    /// What is there, a few characters; understood without color.
    pub label: String,
    /// A second, smaller mark below the label, such as the cursor; may be empty.
    pub mark: String,
    /// The color.
    pub tint: Tint,
}

/// A color by its meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tint {
    /// No color.
    Plain,
    /// Of little weight, such as something already used.
    Faint,
    /// Draws the eye, such as a cursor or a selection.
    Bright,
    /// Impassable ground.
    Blocked,
    /// Belongs to the first player.
    First,
    /// Belongs to the second player.
    Second,
    /// Belongs to the third player.
    Third,
    /// Belongs to the fourth player.
    Fourth,
    /// A color of the game itself, `0xRRGGBB`.
    Rgb(u32),
}

/// Writes the name of the color in documents and classes of style sheets, such as `first`, or `#rrggbb`.
impl fmt::Display for Tint {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Plain => "plain",
            Self::Faint => "faint",
            Self::Bright => "bright",
            Self::Blocked => "blocked",
            Self::First => "first",
            Self::Second => "second",
            Self::Third => "third",
            Self::Fourth => "fourth",
            Self::Rgb(color) => return write!(out, "#{:06x}", color & 0x00ff_ffff),
        })
    }
}
