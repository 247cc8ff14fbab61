//! Describes many histories: as rows of tables, and as statistics.

pub mod statistics;
pub mod table;

mod chart;
mod wilson;
