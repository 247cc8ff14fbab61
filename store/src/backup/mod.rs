//! Backups: a store as a stream of parts, whichever engine has it, and made of them again.
//!
//! [`walk`] reads a store as a sequence of [`part`]s, each of which can be checked against those before it. A backup is
//! that sequence in [`frame`]s; [`rebuild`] makes a store of it again.

pub(crate) mod error;
pub(crate) mod frame;
pub(crate) mod part;
pub(crate) mod rebuild;
pub(crate) mod restore;
pub(crate) mod walk;
mod write;
