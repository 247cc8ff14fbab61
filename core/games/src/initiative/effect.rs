//! The effects of commands.

use alloc::string::String;
use alloc::vec::Vec;

use super::movement::Impulse;
use turnfold_core::prelude::*;

effects! {
    /// Something that happened.
    #[expect(missing_docs, reason = "the fields are named as in the ruling and typed")]
    pub enum Effect {
        /// Both players rolled; these are their totals.
        Rolled { p1: i32, p2: i32 },
        /// IN-3: the initiative is decided.
        Initiative { p1: i32, p2: i32, loser: Seat, winner: Seat },
        /// IN-4: the impulses of the turn.
        MovementOrder { impulses: Vec<Impulse> },
        /// The cursor is at a hex.
        Cursor { at: Hex },
        /// A unit is selected.
        Selected { unit: Id },
        /// Nothing is selected any more.
        Deselected,
        /// IN-11: a unit moved.
        Moved { unit: Id, from: Hex, to: Hex },
        /// IN-12: a unit stays where it is.
        Stood { unit: Id },
        /// IN-5: another impulse begins, counted from 0.
        ImpulseAdvanced { index: u32, player: Seat, units: u32 },
        /// IN-5: every unit has completed its movement.
        MovementComplete,
        /// IN-5: a new turn begins.
        TurnStarted { turn: u64 },
        /// A text for both players.
        Flash { text: String },
    }
}
