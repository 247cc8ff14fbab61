//! Golden logs, checked, blessed and amended; stored matches, verified down to their rules.

pub mod amend;
pub mod bless;
pub mod check;
pub mod selftest;
pub mod verify;
