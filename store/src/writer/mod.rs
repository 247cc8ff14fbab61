//! Writing to a store, whichever engine it has.

pub(crate) mod append;
mod grants;
mod matches;
pub(crate) mod store;
