//! Why a command is ignored or rejected.

use turnfold_core::outcome::{Ruling, reasons};

reasons! {
    /// Why a command is ignored.
    pub enum Reason {
        /// IN-8, IN-9: no unit stands there.
        NoUnit = Ruling::of("no_unit", &["IN-8", "IN-9"]).says("No unit here"),
        /// IN-8, IN-9: the unit is the opponent's.
        NotYourUnit = Ruling::of("not_your_unit", &["IN-8", "IN-9"]).says("Not your unit"),
        /// IN-8, IN-9: the unit has completed its movement in this turn.
        AlreadyMoved = Ruling::of("already_moved", &["IN-8", "IN-9"]).says("Already moved"),
        /// IN-9, IN-11: the hex is off the board.
        OutOfBounds = Ruling::of("out_of_bounds", &["IN-9", "IN-11"]),
        /// IN-10, IN-11, IN-12: no unit is selected.
        NothingSelected = Ruling::of("nothing_selected", &["IN-10", "IN-11", "IN-12"]),
        /// IN-11: the hex is blocked.
        Impassable = Ruling::of("impassable", &["IN-11"]).says("Hex is impassable"),
        /// IN-11: another unit stands there.
        Occupied = Ruling::of("occupied", &["IN-11"]).says("Hex is occupied"),
        /// IN-11: the unit is there already.
        SameHex = Ruling::of("same_hex", &["IN-11"]),
        /// IN-11: no path within the movement allowance.
        OutOfReach = Ruling::of("out_of_reach", &["IN-11"]).says("Out of reach"),
    }
}

reasons! {
    /// Why a command is not accepted, besides the reasons that all rulesets share.
    pub enum Rejection {
        /// The phase takes other commands.
        WrongPhase = Ruling::of("wrong_phase", &[])
            .says("units are selected and moved in `movement`, and `next-turn` comes once all have moved"),
        /// The other player's impulse.
        NotYourTurn = Ruling::of("not_your_turn", &[]).says("it is the other player's impulse"),
    }
}
