//! Writes to a store with any engine.

pub(crate) mod append;
mod change_matches;
pub(crate) mod copy;
mod grants;
mod notes;
pub(crate) mod store;
