//! Checks, blesses and amends golden logs, and verifies stored matches by their rules.

mod amend;
mod bless;
pub(crate) mod check;
mod checked;
mod found;
mod mismatch;
mod verify;

pub use amend::{Amending, Amendment, ChangedRoll, Conflict};
pub use bless::{Change, RulesChange};
pub use check::{CheckReport, FileCheck};
pub use checked::Checked;
pub use found::{FoundFiles, UnreadPath};
pub use mismatch::Mismatch;
pub use verify::{Finding, FindingKind, Verification, VerifiedBranch, verify};
