//! A store's directory: its lock, its format, and every file in it that is not sled's.

pub mod draft;
pub(crate) mod format;
pub(crate) mod holder;
mod leftover;
pub(crate) mod lock;
pub(crate) mod places;
pub(crate) mod private;
pub(crate) mod regular;
pub(crate) mod swap;
pub(crate) mod watermark;
