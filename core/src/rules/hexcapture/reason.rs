//! Why a command changes nothing or is not accepted.

use crate::outcome::{Ruled, Ruling};

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

impl Ruled for Reason {
    const ALL: &'static [Self] = &[
        Self::OutOfBounds,
        Self::Throttled,
        Self::AlreadyHeld,
        Self::Cooldown,
        Self::NotHeld,
        Self::InInventory,
        Self::NotCarrying,
    ];

    fn ruling(self) -> Ruling {
        match self {
            Self::OutOfBounds => Ruling::of("out_of_bounds", &["HC-2", "HC-3"]),
            Self::Throttled => Ruling::of("throttled", &["HC-2", "HC-3"]),
            Self::AlreadyHeld => Ruling::of("already_held", &["HC-4"]),
            Self::Cooldown => Ruling::of("cooldown", &["HC-4"]),
            Self::NotHeld => Ruling::of("not_held", &["HC-5"]),
            Self::InInventory => Ruling::of("in_inventory", &["HC-7"]),
            Self::NotCarrying => Ruling::of("not_carrying", &["HC-7"]),
        }
    }
}
