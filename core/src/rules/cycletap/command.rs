//! What a seat may say, and how it is written.

use core::fmt;
use core::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::admission::Issuer;
use crate::hex::Hex;
use crate::text::{Malformed, split_verb};

/// An input of the match. The variant order is part of the log format.
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

impl fmt::Display for Command {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tap(hex) => write!(out, "tap {hex}"),
            Self::Back => out.write_str("back"),
            Self::Switch => out.write_str("switch"),
            Self::Resolve => out.write_str("resolve"),
        }
    }
}

impl FromStr for Command {
    type Err = Malformed;

    fn from_str(text: &str) -> Result<Self, Malformed> {
        match split_verb(text) {
            ("tap", Some(hex)) => hex.parse().map(Self::Tap),
            ("back", None) => Ok(Self::Back),
            ("switch", None) => Ok(Self::Switch),
            ("resolve", None) => Ok(Self::Resolve),
            _ => Err(Malformed::expected("`tap Q,R`, `back`, `switch` or `resolve`", text)),
        }
    }
}
