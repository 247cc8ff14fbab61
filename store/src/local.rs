//! The engine on disk: a journal, and an index in sled that can be built again from it (ST-10).

#[cfg_attr(
    not(feature = "testing"),
    expect(unreachable_pub, reason = "only tests bring backends of their own")
)]
pub mod backend;
pub(crate) mod check;
pub(crate) mod committer;
pub(crate) mod disk;
pub(crate) mod files;
pub(crate) mod format;
pub(crate) mod index;
pub(crate) mod journal;
pub(crate) mod key;
pub(crate) mod layered;
pub(crate) mod lock;
pub(crate) mod losses;
pub(crate) mod merge;
pub(crate) mod new_store;
pub(crate) mod open;
pub(crate) mod page;
pub(crate) mod reader;
pub(crate) mod record;
pub(crate) mod records;
pub(crate) mod replay;
pub(crate) mod salvage;
pub(crate) mod staging;
pub(crate) mod stats;
pub(crate) mod swap;
pub(crate) mod view;
pub(crate) mod writer;
