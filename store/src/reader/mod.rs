//! Reading a store: matches, branches and entries, each checked as it is read, whichever engine has them.

pub(crate) mod appended;
pub(crate) mod branches;
mod check;
pub(crate) mod entries;
pub(crate) mod found;
mod grants;
pub(crate) mod line;
pub(crate) mod log;
pub(crate) mod matches;
pub(crate) mod named;
mod notice;
mod open;
mod repeat;
pub(crate) mod report;
pub(crate) mod segment;
mod snapshot;
pub(crate) mod store_reader;
