//! Writing to a store, whichever engine it has.

pub(crate) mod append;
mod create;
mod delete;
mod grants;
mod rename;
mod snapshot;
pub(crate) mod store;
