//! Checks, blesses and amends golden logs, and verifies stored matches by their rules.

mod amend;
pub(crate) mod bless;
mod chain;
pub(crate) mod check;
pub(crate) mod found;
mod origins;
mod selftest;
pub(crate) mod verify;

pub use amend::{Amending, Amendment, ChangedRoll};
pub use bless::{Change, RulesChange};
pub use chain::{ChainVerification, LinkedBranch};
pub use check::{AllDifferences, CheckLimits, CheckReport, Checked, FileCheck, Mismatch};
pub use found::{FoundFiles, UnreadPath};
pub use verify::{Finding, FindingKind, Verification, VerifiedBranch, verify};
