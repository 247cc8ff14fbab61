//! Getting a store on disk back: the audit without rules, salvage, compaction, statistics.
//!
//! Restoring, salvaging and compacting all build a new store and give it its name only when it is whole.

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
