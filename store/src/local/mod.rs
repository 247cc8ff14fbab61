//! The engine on disk: an ordered tree of records in sled with a journal before it, and one thread that writes.

#[doc(hidden)]
pub mod backend;
pub(crate) mod dir;
pub(crate) mod layout;
pub(crate) mod reader;
pub(crate) mod rescue;
pub(crate) mod writer;
