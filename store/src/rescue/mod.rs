//! Keeping a store and getting it back: the audit without rules, backups, salvage, compaction, statistics.
//!
//! [`walk`] reads a store as a sequence of [`part`]s, each of which can be checked against those before it. A backup is
//! that sequence in [`frame`]s; [`rebuild`] makes a store of it again. Restoring, salvaging and compacting all build a
//! new store and give it its name only when it is whole.

mod backup;
mod check;
mod compact;
mod copy;
mod damaged;
pub(crate) mod doubt;
mod error;
mod found;
mod frame;
mod gone;
mod grants;
mod lenient;
mod lost;
mod marks;
mod nameless;
mod new_store;
mod orphan;
mod part;
mod plan;
mod rebuild;
mod restore;
mod salvage;
mod source;
mod stats;
mod walk;
mod whole;

pub use check::StoreCheck;
pub use compact::Compacted;
pub use error::RescueError;
pub use lost::LostEntries;
pub use part::Totals;
pub use salvage::Salvage;
pub use stats::{MatchStats, StoreStats};
