//! What the tests in `it/` and the fuzzers in `fuzz/` share: the laws of every ruleset, and what is fuzzed.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]
#![expect(clippy::missing_panics_doc, reason = "a test fails by panicking")]

pub mod fuzz;
pub mod laws;
