//! What happens, one line each.

use core::fmt;

use alloc::string::String;
use alloc::vec::Vec;
use serde::Serialize;

use super::movement::Impulse;
use crate::hex::Hex;
use crate::seat::Seat;
use crate::text::{Id, Joined, Quoted};

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "effect", rename_all = "snake_case")]
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

impl fmt::Display for Effect {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rolled { p1, p2 } => write!(out, "rolled p1={p1} p2={p2}"),
            Self::Initiative { p1, p2, loser, winner } => {
                write!(out, "initiative p1={p1} p2={p2} loser={loser} winner={winner}")
            }
            Self::MovementOrder { impulses } => write!(out, "movement_order impulses={}", Joined(impulses)),
            Self::Cursor { at } => write!(out, "cursor at={at}"),
            Self::Selected { unit } => write!(out, "selected unit={unit}"),
            Self::Deselected => out.write_str("deselected"),
            Self::Moved { unit, from, to } => write!(out, "moved unit={unit} from={from} to={to}"),
            Self::Stood { unit } => write!(out, "stood unit={unit}"),
            Self::ImpulseAdvanced { index, player, units } => {
                write!(out, "impulse_advanced index={index} player={player} units={units}")
            }
            Self::MovementComplete => out.write_str("movement_complete"),
            Self::TurnStarted { turn } => write!(out, "turn_started turn={turn}"),
            Self::Flash { text } => write!(out, "flash text={}", Quoted(text)),
        }
    }
}
