//! sled: the backend on disk, what keeps it durable and sound, and its log read without it.

pub(crate) mod closing;
pub mod disk;
#[cfg(target_os = "linux")]
mod durable;
mod flushing;
mod guard;
mod guarded_open;
pub(crate) mod journal;
mod log;
pub(crate) mod opening;
mod overlay;
pub(crate) mod pieces;
pub(crate) mod raw;
pub(crate) mod read_only;
mod renewal;
mod syncing;
mod tree;
