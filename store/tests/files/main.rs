//! The store's files: every operation on them recorded, and the power cut, or an error returned, at any of them.
//!
//! This is a test binary of its own because it stands in for the C library's file calls in its whole process. That
//! needs glibc on Linux; elsewhere there is nothing to run here, and the tests of the `it` binary remain.

#![cfg(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64"))]
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test fails by panicking, also in its helpers"
)]

mod calls;
mod disk;
mod power_cut;
mod recorded;
mod session;
mod tape;
