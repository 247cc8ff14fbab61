//! Rescue of a store on disk: the audit without rules, salvage, compaction and statistics.
//!
//! Restoring, salvaging and compacting all build a new store, and put it in its place only when it is complete.

pub(crate) mod check;
mod compact;
mod indexed;
pub(crate) mod losses;
mod merge;
pub(crate) mod new_store;
mod salvage;
mod stats;

pub use compact::Compacted;
pub use losses::LostEntries;
pub use salvage::Salvage;
