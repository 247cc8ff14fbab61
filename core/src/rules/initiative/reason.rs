//! Why a command changes nothing or is not accepted.

use crate::outcome::{Ruled, Ruling};

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

impl Ruled for Reason {
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

    fn ruling(self) -> Ruling {
        match self {
            Self::NoUnit => Ruling::of("no_unit", &["IN-8", "IN-9"]).says("No unit here"),
            Self::NotYourUnit => Ruling::of("not_your_unit", &["IN-8", "IN-9"]).says("Not your unit"),
            Self::AlreadyMoved => Ruling::of("already_moved", &["IN-8", "IN-9"]).says("Already moved"),
            Self::OutOfBounds => Ruling::of("out_of_bounds", &["IN-9", "IN-11"]),
            Self::NothingSelected => Ruling::of("nothing_selected", &["IN-10", "IN-11", "IN-12"]),
            Self::Impassable => Ruling::of("impassable", &["IN-11"]).says("Hex is impassable"),
            Self::Occupied => Ruling::of("occupied", &["IN-11"]).says("Hex is occupied"),
            Self::SameHex => Ruling::of("same_hex", &["IN-11"]),
            Self::OutOfReach => Ruling::of("out_of_reach", &["IN-11"]).says("Out of reach"),
        }
    }
}

/// Why a command is not accepted, beside what all rulesets share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rejection {
    /// The phase takes other commands.
    WrongPhase,
    /// The other player's impulse.
    NotYourTurn,
}

impl Ruled for Rejection {
    const ALL: &'static [Self] = &[Self::WrongPhase, Self::NotYourTurn];

    fn ruling(self) -> Ruling {
        match self {
            Self::WrongPhase => Ruling::of("wrong_phase", &[]).says(
                "units are selected and moved in `movement`, and `next-turn` comes once all have moved",
            ),
            Self::NotYourTurn => Ruling::of("not_your_turn", &[]).says("it is the other player's impulse"),
        }
    }
}
