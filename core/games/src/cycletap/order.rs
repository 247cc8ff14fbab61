//! Orders to units.

use core::fmt;

use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::state::UnitId;
use turnfold_core::hex::Hex;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Order {
    pub(super) unit: UnitId,
    pub(super) task: Task,
}

/// The task of a unit, which has one DEFENSE, or one or more ATTACKs on different hexes, or one path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Task {
    Defense,
    Attack(Hex),
    /// The waypoints, at least one.
    Path(PathKind, Vec<Hex>),
}

/// How a unit follows its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PathKind {
    /// Step by step, unless blocked.
    Movement,
    /// One step before all movement.
    Deploy,
}

impl PathKind {
    const fn name(self) -> &'static str {
        match self {
            Self::Movement => "movement",
            Self::Deploy => "deploy",
        }
    }

    pub(super) const fn other(self) -> Self {
        match self {
            Self::Movement => Self::Deploy,
            Self::Deploy => Self::Movement,
        }
    }
}

impl fmt::Display for PathKind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

impl Task {
    pub(super) const fn kind(&self) -> &'static str {
        match self {
            Self::Defense => "defense",
            Self::Attack(_) => "attack",
            Self::Path(kind, _) => kind.name(),
        }
    }

    /// Returns the hexes to which the order leads; none for a DEFENSE.
    pub(super) fn path(&self) -> &[Hex] {
        match self {
            Self::Defense => &[],
            Self::Attack(target) => core::slice::from_ref(target),
            Self::Path(_, waypoints) => waypoints,
        }
    }

    /// CT-1: returns the number of slots that the order takes from the pool.
    pub(super) const fn slots(&self) -> u32 {
        match self {
            Self::Defense => 0,
            Self::Attack(_) | Self::Path(..) => 1,
        }
    }
}
