//! Writing to a store: one committer, and the work that it is given.

pub(crate) mod append;
pub(crate) mod committer;
pub(crate) mod create;
pub(crate) mod delete;
pub(crate) mod rename;
