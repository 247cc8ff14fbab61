//! The index: the records in sled (ST-14). It is built from the journal, and built again whenever it is not what it should be.

mod database;
mod guard;
pub(crate) mod open_index;
pub(crate) mod tree;
