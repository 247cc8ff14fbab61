//! The journal: commits that are durable and not in sled yet.
//!
//! sled writes each batch as several messages, on a thread of its own, at the end of a file that grows. So a commit is
//! first written as one [`frame`] to a [`file`] of fixed length whose bytes are there already, which one `fdatasync`
//! makes durable without a word about the file itself. When the file is full, what all its frames come to goes into
//! sled in one batch; then they are overwritten. Whoever opens the store [`load`]s the frames that sled does not have.

mod file;
mod frame;
mod load;

pub(super) use file::Journal;
pub(crate) use frame::{FILE, JOURNAL_BYTES};
pub(super) use load::{Loaded, each_record};
