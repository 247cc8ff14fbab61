//! Checks, blesses and amends golden logs, and verifies stored matches by their rules.

pub mod amend;
pub mod bless;
pub mod chain;
pub mod check;
pub mod found;
pub mod origins;
pub mod selftest;
pub mod verify;
