//! The commands of players and the host, and their text.

use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

use turnfold_core::prelude::*;

/// A command of the match. The order of the variants is part of the log format.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Command {
    /// IN-1: p1's two dice, then p2's two.
    Roll(#[serde(deserialize_with = "turnfold_core::dice::some_values")] Vec<i32>),
    /// IN-7: puts the cursor on the next selectable unit.
    Cycle,
    /// IN-8: selects the unit under the cursor.
    Confirm,
    /// IN-9: puts the cursor on a hex and selects the unit there.
    Click(Hex),
    /// IN-10: drops the selection.
    Cancel,
    /// IN-11: moves the selected unit.
    Move(Hex),
    /// IN-12: completes the selected unit's movement where it is.
    Stand,
    /// IN-5: starts the next turn.
    NextTurn,
}

impl Command {
    pub(super) const fn issuer(&self) -> Issuer {
        match self {
            Self::Roll(_) | Self::NextTurn => Issuer::Host,
            _ => Issuer::Player,
        }
    }
}

commands! {
    Command, "`roll A B C D`, `cycle`, `confirm`, `click Q,R`, `cancel`, `move Q,R`, `stand` or `next-turn`";
    "roll" => Command::Roll(values),
    "cycle" => Command::Cycle,
    "confirm" => Command::Confirm,
    "click" => Command::Click(hex),
    "cancel" => Command::Cancel,
    "move" => Command::Move(hex),
    "stand" => Command::Stand,
    "next-turn" => Command::NextTurn,
}
