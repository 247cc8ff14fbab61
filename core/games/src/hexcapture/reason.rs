//! Why a command is ignored.

use turnfold_core::outcome::{Ruling, reasons};

reasons! {
    /// Why a command is ignored.
    pub enum Reason {
        /// HC-2, HC-3: the cursor would leave the disc.
        OutOfBounds = Ruling::of("out_of_bounds", &["HC-2", "HC-3"]),
        /// HC-2, HC-3: the cursor moved too shortly before.
        Throttled = Ruling::of("throttled", &["HC-2", "HC-3"]),
        /// HC-4: the action is held.
        AlreadyHeld = Ruling::of("already_held", &["HC-4"]),
        /// HC-4: a capture failed, or a hex was put down, shortly before.
        Cooldown = Ruling::of("cooldown", &["HC-4"]),
        /// HC-5: the action is not held.
        NotHeld = Ruling::of("not_held", &["HC-5"]),
        /// HC-7: the inventory is in view.
        InInventory = Ruling::of("in_inventory", &["HC-7"]),
        /// HC-7: no world hex is carried.
        NotCarrying = Ruling::of("not_carrying", &["HC-7"]),
    }
}
