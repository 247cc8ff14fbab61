//! A store's directory: its locks, its format and its files.

pub(crate) mod files;
pub(crate) mod format;
pub(crate) mod holder;
pub(crate) mod lock;
pub(crate) mod swap;
