//! Why a command changes nothing or is not accepted.

use crate::outcome::{Ruled, Ruling};

/// Why a command is ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// CT-3: the seat has no unit there.
    NoFriendlyUnit,
    /// CT-6, CT-8: the hex is off the board.
    OutOfBounds,
    /// CT-6, CT-8: the hex is not next to the origin or the last waypoint.
    NotAdjacent,
    /// CT-6, CT-8: the hex is water.
    Impassable,
    /// CT-6: the unit defends or is about to.
    Defending,
    /// CT-6: no slot is left for another order.
    PoolExhausted,
    /// CT-7, CT-8: an enemy stands there, and a path does not lead through enemies.
    EnemyOccupied,
    /// CT-8: the path has been there.
    Loop,
    /// CT-8: the path is as long as a path may be.
    PathFull,
    /// CT-10: no path is being built.
    NothingToUndo,
}

impl Ruled for Reason {
    const ALL: &'static [Self] = &[
        Self::NoFriendlyUnit,
        Self::OutOfBounds,
        Self::NotAdjacent,
        Self::Impassable,
        Self::Defending,
        Self::PoolExhausted,
        Self::EnemyOccupied,
        Self::Loop,
        Self::PathFull,
        Self::NothingToUndo,
    ];

    fn ruling(self) -> Ruling {
        match self {
            Self::NoFriendlyUnit => Ruling::of("no_friendly_unit", &["CT-3"]),
            Self::OutOfBounds => Ruling::of("out_of_bounds", &["CT-6", "CT-8"]),
            Self::NotAdjacent => Ruling::of("not_adjacent", &["CT-6", "CT-8"]),
            Self::Impassable => Ruling::of("impassable", &["CT-6", "CT-8"]),
            Self::Defending => Ruling::of("defending", &["CT-6"]),
            Self::PoolExhausted => Ruling::of("pool_exhausted", &["CT-6"]),
            Self::EnemyOccupied => Ruling::of("enemy_occupied", &["CT-7", "CT-8"]),
            Self::Loop => Ruling::of("loop", &["CT-8"]),
            Self::PathFull => Ruling::of("path_full", &["CT-8"]),
            Self::NothingToUndo => Ruling::of("nothing_to_undo", &["CT-10"]),
        }
    }
}

/// Why a command is not accepted, beside what all rulesets share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rejection {
    /// CT-2: the phase takes other commands.
    WrongPhase,
    /// CT-2: the other player plans.
    NotYourTurn,
}

impl Ruled for Rejection {
    const ALL: &'static [Self] = &[Self::WrongPhase, Self::NotYourTurn];

    fn ruling(self) -> Ruling {
        match self {
            Self::WrongPhase => Ruling::of("wrong_phase", &["CT-2"])
                .says("players give orders in planning, and `resolve` comes once both have planned"),
            Self::NotYourTurn => Ruling::of("not_your_turn", &["CT-2"]).says("the other player is planning"),
        }
    }
}
