//! Reads a store with any engine: matches, branches and entries. Each is checked as it is read.

pub(crate) mod branch;
pub(crate) mod branches;
pub(crate) mod entries;
pub(crate) mod found;
pub(crate) mod log;
pub(crate) mod match_list;
mod notice;
pub(crate) mod segment;
mod snapshot;
pub(crate) mod store_reader;
pub(crate) mod store_report;
