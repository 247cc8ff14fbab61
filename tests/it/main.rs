//! Tests that cross crates.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod initiative;
mod laws;
mod layout;
