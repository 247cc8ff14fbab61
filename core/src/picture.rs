//! A drawing of a board, without saying yet whether it becomes characters or SVG.

use core::fmt;

use alloc::string::String;
use alloc::vec::Vec;

use crate::hex::{Board, Hex};

/// What a viewer sees, block below block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Picture {
    /// The blocks, from top to bottom.
    pub blocks: Vec<Block>,
}

/// A part of a picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Block {
    /// A board of hexes.
    Hexes(HexBoard),
    /// Lines of text, such as a legend or a charge bar.
    Lines(Vec<TextLine>),
}

/// A line of text in parts of different color.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
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
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// The text, without line breaks.
    pub text: String,
    /// Its color; never the only sign of a difference.
    pub tint: Tint,
}

/// A board of hexes; those not listed are empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HexBoard {
    /// The board's extent.
    pub board: Board,
    /// The hexes with something in them, by q, then r.
    pub cells: Vec<Cell>,
}

/// A hex with something in it.
#[derive(Clone, Debug, PartialEq, Eq)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
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

/// Writes the name that documents and classes of style sheets have for the color, such as `first`, or `#rrggbb`.
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
