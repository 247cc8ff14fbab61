//! The bytes of a store: keys, records, pages and the chain, as `FORMAT.md` has them.

pub(crate) mod chain;
mod commit;
pub(crate) mod key;
pub(crate) mod page;
pub(crate) mod record;
pub(crate) mod watermark;
