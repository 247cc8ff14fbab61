//! Backups: writes a store of any engine as a stream of parts, and rebuilds a store from them.
//!
//! [`walk`] reads a store as a sequence of [`part`]s. Each part can be checked against the earlier ones. A backup is
//! that sequence in [`frame`]s. [`rebuild`] makes a store from it.

pub(crate) mod error;
pub(crate) mod frame;
pub(crate) mod part;
pub(crate) mod rebuild;
pub(crate) mod restore;
pub(crate) mod walk;
mod write;
