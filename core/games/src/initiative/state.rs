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
    /// Decided in this turn; stays through `end`.
    pub(super) initiative: Option<Decided>,
    /// Places in `units` of those that completed their movement in this turn.
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
    /// Whose it is.
    pub owner: Seat,
    /// What people call it.
    pub name: String,
    /// Where it stands.
    pub at: Hex,
    /// Movement allowance in hexes.
    pub mp: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Phase {
    /// A roll is due.
    Initiative,
    /// Units move; `impulse` is the index in the movement order, `done` how many of its units have moved.
    Movement { impulse: u32, done: u32 },
    /// All have moved.
    End,
}

/// Who won the initiative of a turn.
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
    /// IN-1, IN-2: a roll is due for as long as the phase is `initiative`.
    pub(super) fn due_roll(&self) -> Option<DueRoll> {
        let due = DueRoll { purpose: "initiative".into(), count: 4, low: 1, high: 6, owner: None };
        (self.phase == Phase::Initiative).then_some(due)
    }

    pub(super) fn unit(&self, index: UnitIndex) -> Option<&Unit> {
        self.units.get(usize::from(index))
    }

    /// Returns the units with their places, in setup order.
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

    /// The loser's and the winner's side, once the initiative is decided.
    fn sides(&self) -> Option<(Side, Side)> {
        self.initiative.map(|decided| (self.side(decided.loser), self.side(decided.winner())))
    }

    /// The impulses of this turn's movement; empty until the initiative is decided.
    pub(super) fn movement_order(&self) -> Vec<Impulse> {
        self.sides().map_or_else(Vec::new, |(loser, winner)| movement_order(loser, winner))
    }

    /// The impulse at an index of this turn's movement order, counted from 0.
    pub(super) fn impulse_at(&self, index: u32) -> Option<Impulse> {
        self.sides().and_then(|(loser, winner)| impulse_at(loser, winner, index))
    }

    /// The impulse under way and how many of its units have yet to move; only in `movement`.
    pub(super) fn impulse(&self) -> Option<(Impulse, u32)> {
        let Phase::Movement { impulse, done } = self.phase else { return None };
        self.impulse_at(impulse).map(|current| (current, current.units.saturating_sub(done)))
    }

    /// Whose turn it is to move; only in `movement`.
    pub(super) fn active_player(&self) -> Option<Seat> {
        self.impulse().map(|(impulse, _)| impulse.player)
    }

    /// IN-6: the active player's units that have yet to move, in setup order.
    pub(super) fn selectable(&self) -> impl Iterator<Item = (UnitIndex, &Unit)> {
        let active = self.active_player();
        self.indexed_units()
            .filter(move |(index, unit)| Some(unit.owner) == active && !self.moved.contains(index))
    }
}
