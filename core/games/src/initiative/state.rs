//! The state of a match: the units, the turn and what is selected.

use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::movement::{Impulse, Side, impulse_at, movement_order};
use turnfold_core::hex::Board;
use turnfold_core::prelude::*;

pub(super) const PLAYERS: [Seat; 2] = [Seat::P1, Seat::P2];

/// Everything the future of a match depends on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    pub(super) board: Board,
    pub(super) blocked: BTreeSet<Hex>,
    /// In setup order.
    pub(super) units: Vec<Unit>,
    pub(super) turn: u64,
    pub(super) phase: Phase,
    /// The result of the roll in this turn; stays through `end`.
    pub(super) initiative: Option<Decided>,
    /// The indexes of the units that completed their movement in this turn.
    pub(super) moved: BTreeSet<UnitIndex>,
    pub(super) cursor: Hex,
    pub(super) selected: Option<UnitIndex>,
}

/// A unit's index in setup order.
pub(super) type UnitIndex = u16;

/// A unit on the board.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unit {
    /// Its id in the setup.
    pub id: Id,
    /// Its player.
    pub owner: Seat,
    /// Its display name.
    pub name: String,
    /// Where it stands.
    pub at: Hex,
    /// Its movement allowance in hexes.
    pub mp: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Phase {
    /// A roll is due.
    Initiative,
    /// Units move; `impulse` is the index in the movement order, `done` how many of its units have moved.
    Movement { impulse: u32, done: u32 },
    /// All units have moved.
    End,
}

/// The decided initiative of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Decided {
    /// The totals of p1 and p2.
    pub(super) totals: [i32; 2],
    pub(super) loser: Seat,
}

impl Decided {
    pub(super) fn winner(&self) -> Seat {
        opponent(self.loser)
    }
}

pub(super) fn opponent(player: Seat) -> Seat {
    if player == Seat::P1 { Seat::P2 } else { Seat::P1 }
}

impl State {
    /// IN-1, IN-2: returns the due roll. A roll is due as long as the phase is `initiative`.
    pub(super) fn due_roll(&self) -> Option<DueRoll> {
        if self.phase != Phase::Initiative {
            return None;
        }
        Some(DueRoll { purpose: "initiative".into(), count: 4, low: 1, high: 6, owner: None })
    }

    pub(super) fn unit(&self, index: UnitIndex) -> Option<&Unit> {
        self.units.get(usize::from(index))
    }

    pub(super) fn selected_unit(&self) -> Option<&Unit> {
        self.unit(self.selected?)
    }

    /// Returns the units with their indexes, in setup order.
    pub(super) fn indexed_units(&self) -> impl Iterator<Item = (UnitIndex, &Unit)> {
        (0..).zip(&self.units)
    }

    pub(super) fn unit_at(&self, hex: Hex) -> Option<(UnitIndex, &Unit)> {
        self.indexed_units().find(|(_, unit)| unit.at == hex)
    }

    fn side(&self, player: Seat) -> Side {
        let count = self.units.iter().filter(|unit| unit.owner == player).count();
        Side { player, units: u32::try_from(count).expect("a setup holds at most 400 units") }
    }

    /// Returns the sides of the loser and the winner, once the initiative is decided.
    fn sides(&self) -> Option<(Side, Side)> {
        let decided = self.initiative?;
        Some((self.side(decided.loser), self.side(decided.winner())))
    }

    /// Returns the impulses of this turn's movement; none until the initiative is decided.
    pub(super) fn movement_order(&self) -> Vec<Impulse> {
        match self.sides() {
            Some((loser, winner)) => movement_order(loser, winner),
            None => Vec::new(),
        }
    }

    /// Returns the impulse at an index of this turn's movement order, counted from 0.
    pub(super) fn impulse_at(&self, index: u32) -> Option<Impulse> {
        let (loser, winner) = self.sides()?;
        impulse_at(loser, winner, index)
    }

    /// Returns the current impulse and how many of its units have yet to move; `None` outside `movement`.
    pub(super) fn impulse(&self) -> Option<(Impulse, u32)> {
        let Phase::Movement { impulse, done } = self.phase else { return None };
        let current = self.impulse_at(impulse)?;
        Some((current, current.units.saturating_sub(done)))
    }

    /// Returns the player whose impulse it is; `None` outside `movement`.
    pub(super) fn active_player(&self) -> Option<Seat> {
        self.impulse().map(|(impulse, _)| impulse.player)
    }

    /// IN-6: returns the active player's units that have yet to move, in setup order.
    pub(super) fn selectable(&self) -> impl Iterator<Item = (UnitIndex, &Unit)> {
        let active = self.active_player();
        self.indexed_units()
            .filter(move |(index, unit)| Some(unit.owner) == active && !self.moved.contains(index))
    }
}
