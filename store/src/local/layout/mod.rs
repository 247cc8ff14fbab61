//! The bytes of a store: keys, records and pages, as `FORMAT.md` has them.

mod commit;
pub(crate) mod key;
pub(crate) mod page;
pub(crate) mod record;
pub(crate) mod watermark;
