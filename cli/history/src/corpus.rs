//! Describes many histories: as rows of tables, and as statistics.

mod chart;
mod statistics;
mod table;
mod wilson;

pub use statistics::{GroupStatistics, GroupedCounts, Grouping};
pub use table::{TableKind, TableRow};
