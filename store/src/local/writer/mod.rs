//! Writes to a store on disk: one committer, and the requests that it carries out.

mod committer;
mod delete;
pub(crate) mod engine;
mod grants;
mod ledger;
mod notes;
pub(crate) mod open_disk;
