//! A commit on its way to where it is durable.

/// A commit: what it does, encoded.
#[derive(Clone, Debug)]
pub struct Committed {
    pub(crate) body: Vec<u8>,
}
