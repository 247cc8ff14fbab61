//! sled's log, read without sled.
//!
//! sled 0.34.7 repairs what it opens, whoever opens it: what it cannot read it takes for the end of the log, and
//! writes zeroes over what follows. This reader only reads, and refuses where sled would throw away. It serves every
//! verb that reads, and finds the log sound before sled is let in for those that write.
//!
//! The log is a file of [`segment`]s that hold [`message`]s, each a change to a page. A [`snapshot`] says where the
//! current parts of every page lie; [`replay`] brings it up to the end of the log, the *tip*. The pages are the nodes
//! of a tree ([`node`]), which [`reader`] searches. The format is frozen with the pinned version of sled; a test
//! compares all of it with what sled itself makes of the same files.

mod decode;
mod loose;
mod message;
mod node;
mod reader;
mod replay;
mod segment;
mod settings;
mod snapshot;
#[cfg(test)]
mod tests;

pub(super) use decode::{byte, bytes, number};
pub(super) use loose::Loose;
pub(super) use message::{LINK, NODE};
pub(crate) use reader::LogReader;
pub(super) use reader::segments_since_snapshot;
pub(super) use segment::{SEGMENT_BYTES, UNSYNCED_BYTES_MAX};
pub(super) use snapshot::paths as snapshot_paths;

use crate::local::backend::BackendError;

/// A position in the log. It only grows, while segments of the file are used again.
type Lsn = u64;

/// Says that the log cannot be read as it is.
fn damaged(reason: impl Into<String>) -> BackendError {
    BackendError::Damaged(reason.into())
}
