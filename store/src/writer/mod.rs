//! Writing to a store: one committer, and the work that it is given.

pub(crate) mod append;
pub(crate) mod branch_state;
mod committer;
mod create;
mod delete;
mod grants;
mod ledger;
mod rename;
mod snapshot;
pub(crate) mod store;
