//! The index: the records in sled (ST-14). It is built from the journal, and built again if it is missing or unsound.

mod database;
mod guard;
pub(crate) mod open_index;
pub(crate) mod reached;
pub(crate) mod tree;
