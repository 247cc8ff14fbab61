//! What came of an append.

use crate::entry::Seq;

/// Where appended entries are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Appended {
    /// The number of the first.
    pub first: Seq,
    /// The number of the last, which was the branch's head when they were appended.
    pub last: Seq,
    /// Whether an earlier append with the same idempotency key did it, and this one nothing.
    pub repeated: bool,
}
