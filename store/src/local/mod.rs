//! The engine on disk: a journal, and an index in sled that can be built again from it (ST-10).

pub mod backend;
mod compare;
pub(crate) mod dir;
pub(crate) mod index;
pub(crate) mod journal;
pub(crate) mod layout;
pub(crate) mod misfit;
pub(crate) mod reader;
pub(crate) mod replay;
pub(crate) mod rescue;
mod scan;
pub(crate) mod staging;
pub(crate) mod view;
pub(crate) mod writer;
