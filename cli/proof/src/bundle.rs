//! Match bundles: the records of matches, their modules and signed checkpoints in one text file (`trust.md`, TR-18 to TR-20a).
//!
//! A [`BundleFile`] is read strictly; what it lists is its [`BundleOutline`], and its records are read again each time
//! they are asked for, so that memory does not grow with them. [`StoreRecords`] reads a store in the same form.
//! [`BundledHistories`] is a bundle in memory, whose matches can be read like replay files.

mod combined;
mod file;
mod histories;
pub mod import;
mod modules;
mod outline;
mod parse;
mod records;
mod seat;
pub mod sizes;
mod trees;
mod write;

pub use combined::{Combination, CombinedRecords, MissingRecords};
pub use file::{BundleFile, is_bundle};
pub use histories::{BundledHistories, BundledName, BundledReplay, LeftOut};
pub use modules::{BundleRules, NeededModule};
pub use outline::{BundleOutline, BundledBranch, BundledMatch, BundledModule, TITLE};
pub use records::{BranchIndex, BundleRecords, BundledRecord, MatchPart, StoreRecords, TakeRecord};
pub use seat::{NONCE, NONCE_DIGITS, SeatRecords, without_nonce};
pub(crate) use trees::BranchTrees;
pub(crate) use write::BundleWriter;
pub use write::{write_bundle, write_checkpoints};
