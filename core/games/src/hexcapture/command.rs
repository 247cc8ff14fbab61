//! The commands of the player and the host, and their text.

use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

use turnfold_core::prelude::*;

/// A command of the match. The order of the variants is part of the log format.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Command {
    /// HC-2: moves the cursor.
    Move(Direction),
    /// HC-3: moves the cursor by joystick.
    Stick(Direction),
    /// HC-4: presses the action.
    Act,
    /// HC-5: lets the action go.
    Release,
    /// HC-7: eats the carried hex.
    Eat,
    /// HC-8: changes the view from the world to the inventory, or back.
    Toggle,
    /// Lets time pass.
    Tick(Ticks),
    /// HC-7, HC-14: the value of the roll for a meal or a capture.
    Roll(#[serde(deserialize_with = "turnfold_core::dice::some_values")] Vec<i32>),
}

impl Command {
    pub(super) const fn issuer(&self) -> Issuer {
        match self {
            Self::Tick(_) | Self::Roll(_) => Issuer::Host,
            _ => Issuer::Player,
        }
    }
}

commands! {
    Command, "`move DIR`, `stick DIR`, `act`, `release`, `eat`, `toggle`, `tick`, `tick N` or `roll V`";
    "move" => Command::Move(direction),
    "stick" => Command::Stick(direction),
    "act" => Command::Act,
    "release" => Command::Release,
    "eat" => Command::Eat,
    "toggle" => Command::Toggle,
    "tick" => Command::Tick(ticks or Ticks::ONE),
    "roll" => Command::Roll(values),
}
