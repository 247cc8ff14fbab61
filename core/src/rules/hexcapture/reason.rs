//! Why a command changes nothing or is not accepted.

use core::fmt;

use crate::outcome::{self, Refusal};

/// Why a command is ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// HC-2, HC-3: the cursor would leave the disc.
    OutOfBounds,
    /// HC-2, HC-3: the cursor moved too shortly before.
    Throttled,
    /// HC-4: the action is held.
    AlreadyHeld,
    /// HC-4: a capture failed, or a hex was put down, shortly before.
    Cooldown,
    /// HC-5: the action is not held.
    NotHeld,
    /// HC-7: the inventory is in view.
    InInventory,
    /// HC-7: no world hex is carried.
    NotCarrying,
}

impl outcome::Reason for Reason {
    const ALL: &'static [Self] = &[
        Self::OutOfBounds,
        Self::Throttled,
        Self::AlreadyHeld,
        Self::Cooldown,
        Self::NotHeld,
        Self::InInventory,
        Self::NotCarrying,
    ];

    fn code(self) -> &'static str {
        match self {
            Self::OutOfBounds => "out_of_bounds",
            Self::Throttled => "throttled",
            Self::AlreadyHeld => "already_held",
            Self::Cooldown => "cooldown",
            Self::NotHeld => "not_held",
            Self::InInventory => "in_inventory",
            Self::NotCarrying => "not_carrying",
        }
    }

    fn rules(self) -> &'static [&'static str] {
        match self {
            Self::OutOfBounds | Self::Throttled => &["HC-2", "HC-3"],
            Self::AlreadyHeld | Self::Cooldown => &["HC-4"],
            Self::NotHeld => &["HC-5"],
            Self::InInventory | Self::NotCarrying => &["HC-7"],
        }
    }
}

/// Why a command is not accepted: only the checks that all rulesets share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rejection(Refusal);

impl From<Refusal> for Rejection {
    fn from(refusal: Refusal) -> Self {
        Self(refusal)
    }
}

impl outcome::Rejection for Rejection {
    const ALL: &'static [Self] = &[];

    fn code(self) -> &'static str {
        self.0.code()
    }

    fn rules(self) -> &'static [&'static str] {
        &[]
    }
}

impl fmt::Display for Rejection {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}
