//! Squares of a board with files and ranks, as chess names them.

use core::fmt;
use core::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::text::{Malformed, as_text, number};

/// The most files or ranks of a board: files have the letters `a` to `z`.
const SIDE_MAX: u8 = 26;

/// A square; ordered by rank, then file. Written as its file's letter and its rank's number, such as `e4`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Square {
    rank: u8,
    file: u8,
}

impl Square {
    /// Returns the square of a file and a rank, both from 0; `None` past file `z` or rank 26.
    #[must_use]
    pub const fn new(file: u8, rank: u8) -> Option<Self> {
        if file < SIDE_MAX && rank < SIDE_MAX { Some(Self { rank, file }) } else { None }
    }

    /// Returns the file, from 0.
    #[must_use]
    pub const fn file(self) -> u8 {
        self.file
    }

    /// Returns the rank, from 0.
    #[must_use]
    pub const fn rank(self) -> u8 {
        self.rank
    }
}

impl fmt::Display for Square {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}{}", char::from(b'a' + self.file), self.rank + 1)
    }
}

impl FromStr for Square {
    type Err = Malformed;

    fn from_str(text: &str) -> Result<Self, Malformed> {
        let read = || {
            let (file, rank) = text.split_at_checked(1)?;
            let file = file.bytes().next()?.checked_sub(b'a')?;
            Self::new(file, number::<u8>(rank).ok()?.checked_sub(1)?)
        };
        read().ok_or_else(|| Malformed::expected("a square such as `e4`", text))
    }
}

impl Serialize for Square {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        as_text::serialize(self, serializer)
    }
}

impl<'de> Deserialize<'de> for Square {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        as_text::deserialize(deserializer)
    }
}

/// A board of squares; `[FILES, RANKS]` in JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(u8, u8)", into = "(u8, u8)")]
pub struct SquareBoard {
    files: u8,
    ranks: u8,
}

impl SquareBoard {
    /// Returns a board of 1 to 26 files and ranks; other numbers become the nearest of these.
    #[must_use]
    pub fn new(files: u8, ranks: u8) -> Self {
        Self { files: files.clamp(1, SIDE_MAX), ranks: ranks.clamp(1, SIDE_MAX) }
    }

    /// Returns the number of files.
    #[must_use]
    pub const fn files(self) -> u8 {
        self.files
    }

    /// Returns the number of ranks.
    #[must_use]
    pub const fn ranks(self) -> u8 {
        self.ranks
    }

    /// Returns `true` if a square is on the board.
    #[must_use]
    pub const fn contains(self, square: Square) -> bool {
        square.file < self.files && square.rank < self.ranks
    }

    /// Returns every square, by rank, then file.
    pub fn squares(self) -> impl Iterator<Item = Square> {
        (0..self.ranks).flat_map(move |rank| (0..self.files).map(move |file| Square { rank, file }))
    }
}

impl From<(u8, u8)> for SquareBoard {
    fn from((files, ranks): (u8, u8)) -> Self {
        Self::new(files, ranks)
    }
}

impl From<SquareBoard> for (u8, u8) {
    fn from(board: SquareBoard) -> Self {
        (board.files, board.ranks)
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;
    use alloc::vec::Vec;

    use super::*;

    #[test]
    fn a_square_has_one_name() {
        let board = SquareBoard::new(30, 26);
        let squares: Vec<Square> = board.squares().collect();
        assert_eq!((squares.len(), squares.is_sorted()), (26 * 26, true));
        assert!(squares.iter().all(|square| square.to_string().parse() == Ok(*square)));
        assert_eq!("e4".parse(), Ok(Square { rank: 3, file: 4 }));
        for text in ["", "e", "4", "e0", "e04", "e27", "E4", "é4", "{1", "e4 ", "ee4"] {
            assert!(text.parse::<Square>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_board_has_its_squares() {
        let board = SquareBoard::new(8, 2);
        assert!(board.contains("h2".parse().unwrap()) && !board.contains("a3".parse().unwrap()));
        assert!(!board.contains("i1".parse().unwrap()));
    }
}
