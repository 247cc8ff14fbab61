//! A store's directory: its lock, its format, and every file in it that is not sled's.

pub mod draft;
pub(crate) mod format;
pub(crate) mod lock;
pub(crate) mod private;
pub(crate) mod regular;
pub(crate) mod swap;
pub(crate) mod watermark;
