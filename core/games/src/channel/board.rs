//! A player's board: nine rows of energies.

use serde::{Deserialize, Serialize};

use super::energy::{Chakra, Color, Energy};
use super::ranged::{EnergyId, Row};

/// The number of columns of the universe and of each chakra's row.
pub(super) const ROW_SIZE: usize = 3;
/// The number of columns of the earth.
pub(super) const EARTH_SIZE: usize = 8;

/// The energies of a player, by row and column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Board {
    /// Rows 1 to 8.
    rows: [[Option<Energy>; ROW_SIZE]; 8],
    /// Row 9.
    earth: [Option<Energy>; EARTH_SIZE],
}

/// A place on a board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Place {
    pub(super) row: Row,
    /// From 0.
    pub(super) column: u8,
}

impl Board {
    pub(super) fn row(&self, row: Row) -> &[Option<Energy>] {
        match self.rows.get(usize::from(row.get() - 1)) {
            Some(columns) => columns,
            None => &self.earth,
        }
    }

    fn slot(&mut self, place: Place) -> Option<&mut Option<Energy>> {
        let column = usize::from(place.column);
        match self.rows.get_mut(usize::from(place.row.get() - 1)) {
            Some(columns) => columns.get_mut(column),
            None => self.earth.get_mut(column),
        }
    }

    pub(super) fn energies_in(&self, row: Row) -> impl Iterator<Item = Energy> {
        self.row(row).iter().flatten().copied()
    }

    /// Returns the energies of a row with their places, by column.
    pub(super) fn placed_in(&self, row: Row) -> impl DoubleEndedIterator<Item = (Place, Energy)> {
        let columns = self.row(row);
        // No row has more columns than the earth.
        (0..8).filter_map(move |column| {
            let energy = *columns.get(usize::from(column))?;
            Some((Place { row, column }, energy?))
        })
    }

    pub(super) fn placed(&self) -> impl Iterator<Item = (Place, Energy)> {
        Row::all().flat_map(|row| self.placed_in(row))
    }

    pub(super) fn find(&self, id: EnergyId) -> Option<(Place, Energy)> {
        self.placed().find(|(_, energy)| energy.id == id)
    }

    /// Counts the energies of a color, in all rows.
    pub(super) fn count_of(&self, color: Color) -> usize {
        self.placed().filter(|(_, energy)| energy.color == color).count()
    }

    /// Counts the empty columns of a row.
    pub(super) fn room(&self, row: Row) -> usize {
        self.row(row).iter().filter(|column| column.is_none()).count()
    }

    pub(super) fn remove(&mut self, place: Place) -> Option<Energy> {
        self.slot(place)?.take()
    }

    pub(super) fn put_at(&mut self, place: Place, energy: Energy) {
        if let Some(slot) = self.slot(place) {
            *slot = Some(energy);
        }
    }

    /// CH-1b: puts an energy into the lowest empty column of a row; does nothing if the row is full.
    pub(super) fn put(&mut self, row: Row, energy: Energy) {
        for (column, there) in (0..8).zip(self.row(row)) {
            if there.is_none() {
                self.put_at(Place { row, column }, energy);
                return;
            }
        }
    }

    /// CH-2: returns `true` if the chakra's row holds three energies of its own color.
    pub(super) fn is_harmonised(&self, chakra: Chakra) -> bool {
        for energy in self.row(chakra.row()) {
            if energy.map(|energy| energy.color) != Some(chakra.color()) {
                return false;
            }
        }
        true
    }

    /// CH-2: returns `true` if the row is full and at least one of its three energies is white.
    fn is_temporarily_harmonised(&self, chakra: Chakra) -> bool {
        let row = chakra.row();
        self.room(row) == 0 && self.energies_in(row).any(|energy| energy.color == Color::White)
    }

    /// CH-9: returns `true` if moves pass over the row without counting it.
    pub(super) fn is_passed_over(&self, row: Row) -> bool {
        match Chakra::of_row(row) {
            Some(chakra) => self.is_harmonised(chakra) || self.is_temporarily_harmonised(chakra),
            None => false,
        }
    }

    /// Returns the chakras in harmony, from the top down. They stay in harmony for the rest of the match, except that
    /// `undo` takes back the moves of the current turn.
    pub(super) fn harmonised(&self) -> impl Iterator<Item = Chakra> {
        Chakra::all().filter(|chakra| self.is_harmonised(*chakra))
    }
}
