//! The state of a match: two fields of cells, the cursor, the turtle and everything in progress.

use core::fmt;

use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::grid::Grid;
use super::palette::{ColorIndex, Palette};
use turnfold_core::hex::Board;
use turnfold_core::prelude::*;

pub(super) fn players() -> &'static [Seat] {
    Seat::players(1)
}

/// Everything the future of a match depends on.
///
/// HC-16: the cursor and the turtle are on the board, and the turtle is next to a carried world hex. The number of
/// hexes never changes, except that hexes eaten while the inventory is full are lost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    pub(super) board: Board,
    pub(super) palette: Palette,
    pub(super) timing: Timing,
    pub(super) world: Grid,
    pub(super) inventory: Grid,
    /// Hexes eaten, for each color of the palette.
    pub(super) eaten: Vec<u32>,
    /// Ticks since the match began.
    pub(super) tick: u64,
    pub(super) remaining_seconds: u32,
    /// The field in view.
    pub(super) field: Field,
    pub(super) cursor: Hex,
    pub(super) turtle: Hex,
    pub(super) facing: Direction,
    pub(super) action: Action,
    pub(super) cooldown: u32,
    pub(super) carried: Option<Carried>,
    pub(super) flash: Option<Flash>,
    /// The tick of the last accepted `stick`.
    pub(super) last_stick: Option<u64>,
    pub(super) due: Option<Due>,
}

/// Durations and periods, in ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Timing {
    pub(super) hold: u32,
    pub(super) fail_cooldown: u32,
    pub(super) drop_cooldown: u32,
    pub(super) flash: u32,
    pub(super) ticks_per_second: u32,
    pub(super) approach_period: u32,
    pub(super) carry_period: u32,
    pub(super) stick_period: u32,
}

/// A field of cells that can be in view.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Field {
    /// Where the turtle walks.
    World,
    /// The hexes that the turtle has eaten.
    Inventory,
}

impl fmt::Display for Field {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(out)
    }
}

/// The action and its effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Action {
    /// Not held.
    Free,
    /// Held without an effect so far.
    Held,
    /// Held during a charge; `since` is the tick in which the charge began.
    Charging { since: u64 },
    /// Held while the carried hex is brought to the cursor.
    Releasing,
}

/// The hex being carried. It stays a cell of its field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Carried {
    /// `moved` is the tick of the last cursor move of this carry with the action held.
    World {
        at: Hex,
        moved: Option<u64>,
    },
    Inventory {
        at: Hex,
    },
}

impl Carried {
    pub(super) const fn field(self) -> Field {
        match self {
            Self::World { .. } => Field::World,
            Self::Inventory { .. } => Field::Inventory,
        }
    }

    pub(super) const fn at(self) -> Hex {
        match self {
            Self::World { at, .. } | Self::Inventory { at } => at,
        }
    }
}

/// The success or failure that is being shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flash {
    /// How the capture ended.
    pub kind: FlashKind,
    /// The tick at which it ended.
    pub since: u64,
}

/// How a capture ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FlashKind {
    /// The hex was captured.
    Success,
    /// The capture failed.
    Failure,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Due {
    /// HC-14: decides whether the hex under the cursor is captured.
    Capture,
    /// HC-7: chooses the inventory hex in which the carried hex is stored.
    Eat,
}

impl Due {
    pub(super) const fn purpose(self) -> &'static str {
        match self {
            Self::Capture => "capture",
            Self::Eat => "eat",
        }
    }
}

impl State {
    pub(super) fn due_roll(&self) -> Option<DueRoll> {
        let due = self.due?;
        let high = match due {
            Due::Capture => 99,
            Due::Eat => {
                let places = self.inventory.empties(self.board).count();
                i32::try_from(places).unwrap_or(i32::MAX).saturating_sub(1)
            }
        };
        Some(DueRoll { purpose: due.purpose().into(), count: 1, low: 0, high, owner: None })
    }

    pub(super) fn cell(&self, field: Field, hex: Hex) -> Option<ColorIndex> {
        match field {
            Field::World => self.world.get(self.board, hex),
            Field::Inventory => self.inventory.get(self.board, hex),
        }
    }

    pub(super) fn set_cell(&mut self, field: Field, hex: Hex, color: Option<ColorIndex>) {
        match field {
            Field::World => self.world.set(self.board, hex, color),
            Field::Inventory => self.inventory.set(self.board, hex, color),
        }
    }

    pub(super) fn under_cursor(&self) -> Option<ColorIndex> {
        self.cell(self.field, self.cursor)
    }

    /// Returns the chance of a capture in percent; `None` for an empty cell. In the inventory none fails (HC-12).
    pub(super) fn chance(&self, field: Field, hex: Hex) -> Option<u8> {
        let color = self.cell(field, hex)?;
        Some(match field {
            Field::World => self.palette.chance(color),
            Field::Inventory => 100,
        })
    }

    pub(super) fn chance_under_cursor(&self) -> Option<u8> {
        self.chance(self.field, self.cursor)
    }

    /// Returns `true` if the turtle is next to the cursor and can act; on the cursor's hex it cannot.
    pub(super) fn turtle_is_adjacent(&self) -> bool {
        self.turtle.distance(self.cursor) == 1
    }

    pub(super) fn carried_world_hex(&self) -> Option<Hex> {
        match self.carried {
            Some(Carried::World { at, .. }) => Some(at),
            _ => None,
        }
    }

    pub(super) const fn ticks_since(&self, since: u64) -> u64 {
        self.tick.saturating_sub(since)
    }

    /// Returns `true` if the number of ticks is divisible by `period`.
    pub(super) const fn is_every(&self, period: u32) -> bool {
        self.tick.is_multiple_of(period as u64)
    }

    /// Ends the carry and a release; the action stays held.
    pub(super) fn end_carry(&mut self) {
        self.carried = None;
        if self.action == Action::Releasing {
            self.action = Action::Held;
        }
    }
}
