//! Golden logs, checked, blessed and amended; stored matches, verified down to their rules.

pub mod amend;
pub mod bless;
pub mod chain;
pub mod check;
pub mod found;
pub mod origins;
pub mod selftest;
pub mod verify;
