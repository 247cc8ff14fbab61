//! A store's directory: its lock, its format, what lies where in it, and files not yet named.

pub mod draft;
pub(crate) mod format;
pub(crate) mod holder;
mod leftover;
pub(crate) mod lock;
pub(crate) mod places;
pub(crate) mod private;
pub(crate) mod regular;
pub(crate) mod swap;
