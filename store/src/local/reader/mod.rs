//! Reading the records of a store on disk.

mod engine;
pub(crate) mod found;
pub(crate) mod grants;
mod kept;
pub(crate) mod lookup;
pub(crate) mod matches;
pub(crate) mod open;
mod packed;
pub(crate) mod pages;
pub(crate) mod records;
