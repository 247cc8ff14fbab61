//! The state of a match: the units, the orders and the taps of the planning seat.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::order::{Order, PathKind, Task};
use turnfold_core::hex::{Board, Hex};
use turnfold_core::seat::Seat;
use turnfold_core::text::number;

pub(super) const PLAYERS: [Seat; 2] = [Seat::P1, Seat::P2];

/// Everything the future of a match depends on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    pub(super) board: Board,
    pub(super) water: BTreeSet<Hex>,
    /// The maximum number of waypoints of a path.
    pub(super) max_movement: u8,
    pub(super) defense_bonus: u32,
    pub(super) turn: u64,
    pub(super) phase: Phase,
    /// The living units.
    pub(super) units: BTreeMap<UnitId, Unit>,
    /// CT-13: the orders placed this turn, by seat, then number.
    pub(super) orders: BTreeMap<(Seat, OrderNumber), Order>,
}

/// The number of an order among its seat's orders of one turn.
pub(super) type OrderNumber = u64;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Unit {
    pub(super) owner: Seat,
    pub(super) kind: UnitKind,
    pub(super) at: Hex,
    pub(super) strength: u32,
}

/// The kind of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum UnitKind {
    /// Foot soldiers.
    Infantry,
    /// Mounted soldiers.
    Cavalry,
    /// Adds one slot to its side's pool.
    Officer,
    /// Adds three slots to its side's pool.
    Captain,
}

/// Writes the kind as in setups.
impl fmt::Display for UnitKind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(out)
    }
}

impl UnitKind {
    /// Returns the strength of a unit whose setup has none.
    pub(super) const fn default_strength(self) -> u32 {
        match self {
            Self::Infantry | Self::Captain => 2,
            Self::Cavalry => 3,
            Self::Officer => 1,
        }
    }

    /// CT-1: returns the number of slots that the unit adds to its side's pool.
    const fn slots(self) -> u32 {
        match self {
            Self::Infantry | Self::Cavalry => 0,
            Self::Officer => 1,
            Self::Captain => 3,
        }
    }
}

/// CT-2: a part of a turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Phase {
    Planning(Planning),
    /// Both sides have planned, and `resolve` is next.
    Execution,
    /// CT-18: a side has no unit left.
    Over {
        /// `None` if neither side has a unit left.
        winner: Option<Seat>,
    },
}

impl Phase {
    pub(super) const fn planning(seat: Seat) -> Self {
        Self::Planning(Planning { seat, tap: Tap::Idle, placed: 0 })
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Planning {
    pub(super) seat: Seat,
    pub(super) tap: Tap,
    /// CT-13: the number of the last order placed. Numbers of cleared orders are not used again.
    pub(super) placed: OrderNumber,
}

/// The tap state of the planning seat; its unit is the origin.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Tap {
    Idle,
    OriginSelected(UnitId),
    DefensePending(UnitId),
    AttackPlaced(UnitId),
    PathBuilding(BuiltPath),
}

/// A path being built, with at least one waypoint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct BuiltPath {
    pub(super) unit: UnitId,
    pub(super) waypoints: Vec<Hex>,
    pub(super) kind: PathKind,
}

impl Tap {
    pub(super) const fn origin(&self) -> Option<UnitId> {
        match self {
            Self::Idle => None,
            Self::OriginSelected(unit) | Self::DefensePending(unit) | Self::AttackPlaced(unit) => Some(*unit),
            Self::PathBuilding(path) => Some(path.unit),
        }
    }
}

/// CT-1: the order slots of a side in a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "the fields are named as in the ruling and typed")]
pub struct Pool {
    pub total: u32,
    pub used: u32,
    pub available: u32,
}

impl State {
    pub(super) const fn is_over(&self) -> bool {
        matches!(self.phase, Phase::Over { .. })
    }

    pub(super) const fn planning(&self) -> Option<&Planning> {
        match &self.phase {
            Phase::Planning(planning) => Some(planning),
            Phase::Execution | Phase::Over { .. } => None,
        }
    }

    /// Returns the unit that a tap state selects, with its id.
    pub(super) fn origin(&self, tap: &Tap) -> Option<(UnitId, &Unit)> {
        let id = tap.origin()?;
        Some((id, self.units.get(&id)?))
    }

    pub(super) fn unit_at(&self, hex: Hex) -> Option<(UnitId, &Unit)> {
        let (id, unit) = self.units.iter().find(|(_, unit)| unit.at == hex)?;
        Some((*id, unit))
    }

    pub(super) fn tasks_of(&self, unit: UnitId) -> impl Iterator<Item = &Task> {
        self.orders.values().filter(move |order| order.unit == unit).map(|order| &order.task)
    }

    pub(super) fn is_defending(&self, unit: UnitId) -> bool {
        self.tasks_of(unit).any(|task| *task == Task::Defense)
    }

    pub(super) fn has_path(&self, unit: UnitId) -> bool {
        self.tasks_of(unit).any(|task| matches!(task, Task::Path(..)))
    }

    /// CT-1: returns the pool of a seat. No unit joins or leaves between the start of planning and combat, so the total
    /// is the same as at the start of planning.
    pub(super) fn pool(&self, seat: Seat) -> Pool {
        let mut total = 0;
        for unit in self.units.values() {
            if unit.owner == seat {
                total += unit.kind.slots();
            }
        }
        let mut used = 0;
        for ((owner, _), order) in &self.orders {
            if *owner == seat {
                used += order.task.slots();
            }
        }
        Pool { total, used, available: total.saturating_sub(used) }
    }
}

/// A unit's number in the setup, from 1: a number as bytes, as in states, and the text `u1`, `u2`, … elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct UnitId(pub(super) u16);

impl fmt::Display for UnitId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "u{}", self.0)
    }
}

impl Serialize for UnitId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            serializer.collect_str(self)
        } else {
            self.0.serialize(serializer)
        }
    }
}

impl<'de> Deserialize<'de> for UnitId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if !deserializer.is_human_readable() {
            return u16::deserialize(deserializer).map(Self);
        }
        let text = String::deserialize(deserializer)?;
        match text.strip_prefix('u').map(number) {
            Some(Ok(number)) => Ok(Self(number)),
            _ => Err(D::Error::custom("expected a unit such as `u1`")),
        }
    }
}
