//! Tests that cross crates: laws, rules, golden logs, the real binary, crashes, documents and the house itself.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]
#![expect(clippy::needless_raw_string_hashes, reason = "snapshots are written that way by their tool")]

mod sandbox;

mod laws;

mod initiative;

mod cli;
mod crash;
mod goldens;
mod layout;
mod main_job;
mod readme;
