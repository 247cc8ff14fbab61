//! The index: the records in sled (ST-14). It is built from the journal, and built again whenever it is not what it should be.

pub(crate) mod building;
mod closing;
mod database;
mod flushing;
mod guard;
pub(crate) mod open;
pub(crate) mod tree;

/// The folder of the indexes in a store's directory.
pub(crate) const DIR: &str = "sled";
