//! Reading a store: matches, branches and entries, each checked as it is read.

pub(crate) mod branches;
pub(crate) mod entries;
pub(crate) mod found;
pub(crate) mod grants;
pub(crate) mod history;
pub(crate) mod line;
pub(crate) mod log;
pub(crate) mod lookup;
pub(crate) mod matches;
mod open;
pub(crate) mod pages;
pub(crate) mod records;
pub(crate) mod scan;
pub(crate) mod segment;
mod snapshot;
pub(crate) mod store_reader;
