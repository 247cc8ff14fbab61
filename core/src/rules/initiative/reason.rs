//! Why a command changes nothing or is not accepted.

use core::fmt;

use crate::outcome::{self, Refusal};

/// Why a command is ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// IN-8, IN-9: no unit stands there.
    NoUnit,
    /// IN-8, IN-9: the unit is the opponent's.
    NotYourUnit,
    /// IN-8, IN-9: the unit has completed its movement in this turn.
    AlreadyMoved,
    /// IN-9, IN-11: the hex is off the board.
    OutOfBounds,
    /// IN-10, IN-11, IN-12: no unit is selected.
    NothingSelected,
    /// IN-11: the hex is blocked.
    Impassable,
    /// IN-11: another unit stands there.
    Occupied,
    /// IN-11: the unit is there already.
    SameHex,
    /// IN-11: no path within the movement allowance.
    OutOfReach,
}

impl outcome::Reason for Reason {
    const ALL: &'static [Self] = &[
        Self::NoUnit,
        Self::NotYourUnit,
        Self::AlreadyMoved,
        Self::OutOfBounds,
        Self::NothingSelected,
        Self::Impassable,
        Self::Occupied,
        Self::SameHex,
        Self::OutOfReach,
    ];

    fn code(self) -> &'static str {
        match self {
            Self::NoUnit => "no_unit",
            Self::NotYourUnit => "not_your_unit",
            Self::AlreadyMoved => "already_moved",
            Self::OutOfBounds => "out_of_bounds",
            Self::NothingSelected => "nothing_selected",
            Self::Impassable => "impassable",
            Self::Occupied => "occupied",
            Self::SameHex => "same_hex",
            Self::OutOfReach => "out_of_reach",
        }
    }

    fn rules(self) -> &'static [&'static str] {
        match self {
            Self::NoUnit | Self::NotYourUnit | Self::AlreadyMoved => &["IN-8", "IN-9"],
            Self::OutOfBounds => &["IN-9", "IN-11"],
            Self::NothingSelected => &["IN-10", "IN-11", "IN-12"],
            Self::Impassable | Self::Occupied | Self::SameHex | Self::OutOfReach => &["IN-11"],
        }
    }

    fn text(self) -> Option<&'static str> {
        match self {
            Self::NoUnit => Some("No unit here"),
            Self::NotYourUnit => Some("Not your unit"),
            Self::AlreadyMoved => Some("Already moved"),
            Self::Impassable => Some("Hex is impassable"),
            Self::Occupied => Some("Hex is occupied"),
            Self::OutOfReach => Some("Out of reach"),
            Self::OutOfBounds | Self::NothingSelected | Self::SameHex => None,
        }
    }
}

/// Why a command is not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rejection {
    /// A check that all rulesets share.
    Refused(Refusal),
    /// The phase takes other commands.
    WrongPhase,
    /// The other player's impulse.
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
            Self::Refused(_) | Self::WrongPhase | Self::NotYourTurn => &[],
        }
    }
}

impl fmt::Display for Rejection {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(refusal) => refusal.fmt(out),
            Self::WrongPhase => out.write_str(
                "units are selected and moved in `movement`, and `next-turn` comes once all have moved",
            ),
            Self::NotYourTurn => out.write_str("it is the other player's impulse"),
        }
    }
}
