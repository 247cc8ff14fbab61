//! A store's directory: its lock, its format, and what lies where in it.

pub(crate) mod files;
pub(crate) mod format;
pub(crate) mod holder;
pub(crate) mod lock;
pub(crate) mod swap;
