//! Reads a store with any engine: matches, branches and entries. Each is checked as it is read.

pub(crate) mod branch;
pub(crate) mod entries;
pub(crate) mod store_reader;
pub(crate) mod store_report;
