//! The bytes of records: keys, bodies and pages, as `FORMAT.md` defines them.

pub(crate) mod key;
pub(crate) mod page;
pub(crate) mod record;
