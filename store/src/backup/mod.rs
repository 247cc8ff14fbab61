//! Backups: a store of any engine as a stream of parts, and rebuilt from them.
//!
//! [`walk`] reads a store as a sequence of [`part`]s. Each can be checked against the parts before it. A backup is
//! that sequence in [`frame`]s; [`rebuild`] makes a store of it again.

pub(crate) mod error;
pub(crate) mod frame;
pub(crate) mod part;
pub(crate) mod rebuild;
pub(crate) mod restore;
pub(crate) mod walk;
mod write;
