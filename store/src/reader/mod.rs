//! Reading a store: matches, branches and entries, each checked as it is read.

pub(crate) mod branches;
pub(crate) mod entries;
pub(crate) mod lookup;
pub(crate) mod matches;
pub(crate) mod scan;
pub(crate) mod segment;
pub(crate) mod snapshot;
