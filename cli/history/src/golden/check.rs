//! Checks replay files: compares what they record with what the rules compute.

mod again;
mod explain;
mod files;
mod mismatch;
mod replay;

pub use files::{CheckLimits, CheckReport, FileCheck, check};
pub use mismatch::Mismatch;
pub use replay::{AllDifferences, Checked};
