//! Records every operation on the store's files, and then cuts the power or returns an error at any of them.
//!
//! This is a test binary of its own because it replaces the C library's file calls in its whole process. That needs
//! glibc on Linux; elsewhere this binary is empty, and only the tests of the `it` binary run.

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
