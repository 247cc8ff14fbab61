//! What the tests in `it/` and the fuzzers in `fuzz/` share: the fixtures, and what is fuzzed.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]
#![expect(clippy::missing_panics_doc, reason = "a test fails by panicking")]

use std::path::Path;

use turnfold_laws::Fixture;

pub mod fuzz;

/// Reads the fixtures of a ruleset, in the order of their names.
#[must_use]
pub fn fixtures(ruleset: &str) -> Vec<Fixture> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures").join(ruleset);
    Fixture::read_all(&folder).unwrap_or_default()
}
