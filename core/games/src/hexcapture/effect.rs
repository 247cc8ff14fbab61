//! The effects of commands.

use core::fmt;

use serde::Serialize;

use super::palette::ColorIndex;
use super::state::Field;
use turnfold_core::prelude::*;

effects! {
    /// Something that happened.
    #[derive(Copy)]
    #[expect(missing_docs, reason = "the fields are named as in the ruling and typed")]
    pub enum Effect {
        /// HC-2, HC-3: the cursor is at a hex.
        Cursor { at: Hex },
        /// The turtle walked or turned; `facing` is a direction's index.
        Turtle { at: Hex, facing: u8 },
        /// HC-4, HC-5: the action is pressed or let go.
        Action { held: bool },
        /// HC-8: another field is in view.
        Field { field: Field },
        /// As many ticks passed.
        Ticked { ticks: u32 },
        /// HC-4, HC-10: a charge begins over a hex.
        ChargeStarted { at: Hex },
        /// HC-5, HC-8: the charge ends before its time.
        ChargeCancelled,
        /// HC-12: the charge ends over an empty cell.
        ChargeLapsed,
        /// HC-12, HC-14: a hex is captured and carried from now on.
        Captured { field: Field, at: Hex, color: ColorIndex },
        /// HC-12, HC-14: a capture fails.
        CaptureFailed { cause: FailureCause },
        /// HC-7, HC-14: a roll is waited for; captures have a chance in percent.
        RollDue { purpose: &'static str, chance: Option<u8> },
        /// HC-4, HC-11: the carried hex sets out for the cursor.
        ReleaseStarted,
        /// HC-11: the carried hex cannot get to the cursor.
        ReleaseBlocked,
        /// HC-11: the carried hex is at another hex.
        CarriedTo { at: Hex },
        /// HC-11: the carried hex is put down.
        Dropped { field: Field, at: Hex },
        /// HC-7: the carried hex is eaten, and stored in this inventory hex unless all were full.
        Eaten { color: ColorIndex, stored: Option<Hex> },
        /// HC-11, HC-14: the action cannot be pressed for so long.
        Cooldown { ticks: u32 },
    }
}

/// Why a capture fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureCause {
    /// HC-14: the roll was not below the chance.
    Roll,
    /// HC-12: the turtle was not next to the cursor.
    NotAdjacent,
}

impl fmt::Display for FailureCause {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(out)
    }
}
