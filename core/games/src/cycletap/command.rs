//! The commands of players and the host, and their text.

use serde::{Deserialize, Serialize};

use turnfold_core::prelude::*;

/// A command of the match. The order of the variants is part of the log format.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Command {
    /// CT-3 to CT-9: taps a hex.
    Tap(Hex),
    /// CT-10: takes back the last waypoint.
    Back,
    /// CT-12: ends the seat's planning.
    Switch,
    /// CT-14 to CT-18: carries out the orders of both sides.
    Resolve,
}

impl Command {
    pub(super) const fn issuer(&self) -> Issuer {
        match self {
            Self::Tap(_) | Self::Back | Self::Switch => Issuer::Player,
            Self::Resolve => Issuer::Host,
        }
    }
}

commands! {
    Command, "`tap Q,R`, `back`, `switch` or `resolve`";
    "tap" => Command::Tap(hex),
    "back" => Command::Back,
    "switch" => Command::Switch,
    "resolve" => Command::Resolve,
}
