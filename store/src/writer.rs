//! Writes to a store with any engine.

pub(crate) mod append;
pub(crate) mod copy;
pub(crate) mod options;
pub(crate) mod store;
