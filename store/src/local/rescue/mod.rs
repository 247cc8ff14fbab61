//! Getting a store on disk back: the audit without rules, salvage, compaction, statistics.
//!
//! Restoring, salvaging and compacting all build a new store and give it its name only when it is whole.

pub(crate) mod check;
mod compact;
mod copy;
mod damaged;
pub(crate) mod doubt;
mod found;
mod gone;
mod grants;
mod lenient;
mod lost;
mod marks;
mod nameless;
pub(crate) mod new_store;
mod orphan;
mod plan;
mod salvage;
mod source;
mod stats;
mod whole;

pub use compact::Compacted;
pub use lost::LostEntries;
pub use salvage::Salvage;
