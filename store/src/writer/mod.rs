//! Writing to a store, whichever engine it has.

pub(crate) mod append;
pub(crate) mod copy;
mod grants;
mod matches;
pub(crate) mod store;
