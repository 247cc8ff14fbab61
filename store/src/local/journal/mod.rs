//! The journal: every commit as a checked frame, in two heads and in segments. It is the truth; the index is built from
//! it.

pub(crate) mod commit;
pub(crate) mod frame;
pub(crate) mod head;
pub(crate) mod image;
pub(crate) mod lenient;
pub(crate) mod op;
pub(crate) mod pack;
pub(crate) mod segment;
pub(crate) mod writer;
