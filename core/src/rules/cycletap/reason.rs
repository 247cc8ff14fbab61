//! Why a command changes nothing or is not accepted.

use core::fmt;

use crate::outcome::{self, Refusal};

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

impl outcome::Reason for Reason {
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

    fn code(self) -> &'static str {
        match self {
            Self::NoFriendlyUnit => "no_friendly_unit",
            Self::OutOfBounds => "out_of_bounds",
            Self::NotAdjacent => "not_adjacent",
            Self::Impassable => "impassable",
            Self::Defending => "defending",
            Self::PoolExhausted => "pool_exhausted",
            Self::EnemyOccupied => "enemy_occupied",
            Self::Loop => "loop",
            Self::PathFull => "path_full",
            Self::NothingToUndo => "nothing_to_undo",
        }
    }

    fn rules(self) -> &'static [&'static str] {
        match self {
            Self::NoFriendlyUnit => &["CT-3"],
            Self::OutOfBounds | Self::NotAdjacent | Self::Impassable => &["CT-6", "CT-8"],
            Self::Defending | Self::PoolExhausted => &["CT-6"],
            Self::EnemyOccupied => &["CT-7", "CT-8"],
            Self::Loop | Self::PathFull => &["CT-8"],
            Self::NothingToUndo => &["CT-10"],
        }
    }
}

/// Why a command is not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rejection {
    /// A check that all rulesets share.
    Refused(Refusal),
    /// CT-2: the phase takes other commands.
    WrongPhase,
    /// CT-2: the other player plans.
    NotYourTurn,
}

impl From<Refusal> for Rejection {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl outcome::Rejection for Rejection {
    const ALL: &'static [Self] = &[Self::WrongPhase, Self::NotYourTurn];

    fn code(self) -> &'static str {
        match self {
            Self::Refused(refusal) => refusal.code(),
            Self::WrongPhase => "wrong_phase",
            Self::NotYourTurn => "not_your_turn",
        }
    }

    fn rules(self) -> &'static [&'static str] {
        match self {
            Self::WrongPhase | Self::NotYourTurn => &["CT-2"],
            Self::Refused(_) => &[],
        }
    }
}

impl fmt::Display for Rejection {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(refusal) => refusal.fmt(out),
            Self::WrongPhase => {
                out.write_str("players give orders in planning, and `resolve` comes once both have planned")
            }
            Self::NotYourTurn => out.write_str("the other player is planning"),
        }
    }
}
