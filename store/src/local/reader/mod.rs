//! Reading the records of a store on disk.

mod engine;
pub(crate) mod found;
pub(crate) mod grants;
pub(crate) mod lookup;
pub(crate) mod matches;
pub(crate) mod open;
pub(crate) mod pages;
pub(crate) mod records;
