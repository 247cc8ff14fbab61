//! The store as its users see it: in memory, on disk, damaged and failing.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test fails by panicking, also in its helpers"
)]

mod absence;
mod append;
mod branches;
mod chance;
mod child;
mod copies;
mod damage;
mod disk;
mod engines;
mod faults;
mod faulty;
#[cfg(all(unix, feature = "postgres"))]
mod fleet;
#[cfg(unix)]
mod full;
mod game;
mod grants;
mod journal;
mod killed;
mod laws;
mod modules;
mod notes;
#[cfg(all(unix, feature = "postgres"))]
mod pooler;
#[cfg(all(unix, feature = "postgres"))]
mod postgres;
mod renames;
mod rescue;
mod sessions;
mod snapshots;
