//! Reads the records of a store on disk.

mod engine;
pub(crate) mod found;
pub(crate) mod grants;
pub(crate) mod lookup;
mod notes;
pub(crate) mod open_records;
pub(crate) mod pages;
pub(crate) mod record_matches;
pub(crate) mod records;
