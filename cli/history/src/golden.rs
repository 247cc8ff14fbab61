//! Checks, blesses and amends golden logs, and verifies stored matches by their rules.

mod amend;
pub(crate) mod bless;
mod chain;
pub(crate) mod check;
pub(crate) mod found;
mod origins;
mod selftest;
pub(crate) mod verify;

pub use amend::{Amending, Amendment, ChangedRoll, amend};
pub use bless::{Change, RulesChange, bless, bless_if_true};
pub use chain::{ChainVerification, LinkedBranch, verify_chain};
pub use check::{
    AllDifferences, CheckLimits, CheckReport, Checked, FileCheck, Mismatch, check_files, check_replay,
};
pub use found::{FoundFiles, UnreadPath};
pub use origins::is_wrong;
pub use selftest::first_unsynced;
pub use verify::{Finding, FindingKind, Verification, VerifiedBranch, left_to_check, named_referee, verify};
