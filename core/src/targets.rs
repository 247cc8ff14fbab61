//! Commands given by clicking: each part of a command is a word or a place on a board.

use core::fmt::Display;

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::hex::Hex;
use crate::square::Square;

/// The parts of a command, in the order in which people choose them (VW-18).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Targets {
    /// The parts; none for a command that has no place on a board.
    pub parts: Vec<TargetPart>,
    /// Whether a page asks before it sends the command, such as one to resign.
    pub irreversible: bool,
}

/// A part of a command. Boards are counted from 0 in a picture, without its other blocks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum TargetPart {
    /// A word to choose from a menu, such as the piece that a pawn becomes. It serializes as a string.
    Word(String),
    /// A hex of a board of hexes: `[BOARD, [q, r]]`.
    Hex(u8, Hex),
    /// A square of a board of squares: `[BOARD, "e4"]`.
    Square(u8, Square),
    /// The part of a picture with this name, alone or after the command's seat: a piece, row, bar, chip or hex (VW-43).
    /// It serializes as `{"piece": "energy 4"}`.
    Piece {
        /// The name, such as `energy 4`.
        piece: String,
    },
}

impl Targets {
    /// Returns the hexes of the first board that a command names in separate words, written `q,r`.
    ///
    /// ```
    /// use turnfold_core::Hex;
    /// use turnfold_core::targets::{TargetPart, Targets};
    ///
    /// let targets = Targets::hexes_in(&"path 1,0 2,-1");
    /// assert_eq!(targets.parts, [TargetPart::Hex(0, Hex::new(1, 0)), TargetPart::Hex(0, Hex::new(2, -1))]);
    /// ```
    #[must_use]
    pub fn hexes_in(command: &impl Display) -> Self {
        let text = command.to_string();
        let hexes = text.split(' ').filter_map(|word| word.parse().ok());
        Self { parts: hexes.map(|hex| TargetPart::Hex(0, hex)).collect(), irreversible: false }
    }

    /// Returns squares of the first board.
    #[must_use]
    pub fn squares(squares: impl IntoIterator<Item = Square>) -> Self {
        Self { parts: squares.into_iter().map(|at| TargetPart::Square(0, at)).collect(), irreversible: false }
    }

    /// Returns pieces that the picture names.
    ///
    /// ```
    /// use turnfold_core::targets::{TargetPart, Targets};
    ///
    /// let targets = Targets::pieces(["energy 4", "row 1"]);
    /// assert_eq!(targets.parts[1], TargetPart::Piece { piece: "row 1".into() });
    /// ```
    #[must_use]
    pub fn pieces(names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let parts = names.into_iter().map(|name| TargetPart::Piece { piece: name.into() });
        Self { parts: parts.collect(), irreversible: false }
    }

    /// Adds a piece that the picture names.
    #[must_use]
    pub fn then_piece(mut self, name: impl Into<String>) -> Self {
        self.parts.push(TargetPart::Piece { piece: name.into() });
        self
    }

    /// Adds a word.
    #[must_use]
    pub fn then_word(mut self, word: impl Into<String>) -> Self {
        self.parts.push(TargetPart::Word(word.into()));
        self
    }

    /// Returns targets without parts, for a command that a page asks about before it sends the command.
    #[must_use]
    pub fn irreversible() -> Self {
        Self { parts: Vec::new(), irreversible: true }
    }
}
