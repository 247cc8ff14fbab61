//! The cells of a field, one byte each.

use alloc::vec;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize, Serializer};

use super::palette::ColorIndex;
use turnfold_core::hex::{Board, Hex};

/// The cells of a field, in the order of the board's hexes: 0 is empty, any other byte is a color's index plus 1.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(super) struct Grid(Vec<u8>);

/// Writes all cells at once instead of one by one. The bytes are the same: a length and the cells.
impl Serialize for Grid {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

impl Grid {
    pub(super) fn empty(board: Board) -> Self {
        Self(vec![0; board.hexes().count()])
    }

    /// Returns the color of a cell; `None` if it is empty or off the board.
    pub(super) fn get(&self, board: Board, hex: Hex) -> Option<ColorIndex> {
        color(*self.0.get(index(board, hex)?)?)
    }

    pub(super) fn set(&mut self, board: Board, hex: Hex, color: Option<ColorIndex>) {
        let Some(index) = index(board, hex) else { return };
        if let Some(cell) = self.0.get_mut(index) {
            *cell = match color {
                Some(color) => color.index().saturating_add(1),
                None => 0,
            };
        }
    }

    /// Returns the colored cells, by q, then r.
    pub(super) fn colored(&self, board: Board) -> impl Iterator<Item = (Hex, ColorIndex)> {
        board.hexes().zip(&self.0).filter_map(|(hex, &cell)| Some((hex, color(cell)?)))
    }

    /// Returns the empty cells, by q, then r.
    pub(super) fn empties(&self, board: Board) -> impl Iterator<Item = Hex> {
        board.hexes().zip(&self.0).filter_map(|(hex, &cell)| color(cell).is_none().then_some(hex))
    }

    /// HC-17: counts, for each of the first `colors` colors, the cells with a neighbor of the same color.
    pub(super) fn adjacent(&self, board: Board, colors: usize) -> Vec<u32> {
        let mut counts = vec![0; colors];
        for (hex, color) in self.colored(board) {
            if hex.neighbors().any(|near| self.get(board, near) == Some(color))
                && let Some(count) = counts.get_mut(usize::from(color.index()))
            {
                *count += 1;
            }
        }
        counts
    }
}

fn color(cell: u8) -> Option<ColorIndex> {
    cell.checked_sub(1).map(ColorIndex::new)
}

/// Returns a hex's index in the order of the board's hexes; `None` off the board.
fn index(board: Board, hex: Hex) -> Option<usize> {
    if !board.contains(hex) {
        return None;
    }
    let radius = i32::from(board.radius());
    // Columns grow by one cell up to the middle column, and shrink by one after it.
    let start = if hex.q <= 0 {
        cells_of_columns(radius, hex.q + radius)
    } else {
        3 * radius * (radius + 1) + 1 - cells_of_columns(radius, radius - hex.q + 1)
    };
    usize::try_from(start + hex.r - (-radius).max(-radius - hex.q)).ok()
}

/// Counts the cells of the first columns, at most up to the middle one; as many are in the last columns.
fn cells_of_columns(radius: i32, columns: i32) -> i32 {
    columns * (radius + 1) + columns * (columns - 1) / 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_lie_in_the_order_of_the_hexes() {
        for radius in [0, 1, 2, 5, 40] {
            let board = Board::new(radius);
            let places: Vec<Option<usize>> = board.hexes().map(|hex| index(board, hex)).collect();
            assert!(places.iter().copied().eq((0..places.len()).map(Some)), "radius {radius}");
            assert_eq!(Grid::empty(board).0.len(), places.len());
        }
        assert_eq!(index(Board::new(2), Hex::new(2, 1)), None);
        assert_eq!(index(Board::new(2), Hex::new(i32::MIN, i32::MAX)), None);
    }

    #[test]
    fn hc_17_cells_with_a_neighbor_of_their_color_are_counted() {
        let board = Board::new(2);
        let mut grid = Grid::empty(board);
        for (q, r, color) in [(0, 0, 0), (1, 0, 0), (2, 0, 0), (-1, 0, 1), (-2, 2, 2), (-1, 2, 2), (0, -2, 0)]
        {
            grid.set(board, Hex::new(q, r), Some(ColorIndex::new(color)));
        }
        assert_eq!(grid.adjacent(board, 4), [3, 0, 2, 0]);
    }
}
