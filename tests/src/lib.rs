//! What the tests in `it/` and `system/` and the fuzzers in `fuzz/` share: a sandbox for the binary, a service, a match
//! by mail, documents, fixtures, and fuzz targets.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]
#![expect(missing_docs, reason = "names that explain themselves, for tests alone")]
#![expect(clippy::missing_panics_doc, clippy::must_use_candidate, reason = "for tests alone")]
#![expect(clippy::new_without_default, reason = "a test names what it makes")]

use std::path::Path;

use turnfold_laws::Fixture;

pub mod document;
pub mod fuzz;
pub mod goldens;
pub mod mailbox;
pub mod parts;
pub mod players;
pub mod sandbox;
pub mod secrets;
pub mod service;
pub mod transcript;

/// Returns `true` if the variable `TURNFOLD_LONG` requests long tests in full instead of their short form.
pub fn is_long() -> bool {
    std::env::var_os("TURNFOLD_LONG").is_some()
}

/// Reads the fixtures of a ruleset, sorted by name.
pub fn fixtures(ruleset: &str) -> Vec<Fixture> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures").join(ruleset);
    Fixture::read_all(&folder).unwrap_or_default()
}

/// Reads the text of a fixture.
pub fn fixture(ruleset: &str, name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures").join(ruleset);
    std::fs::read_to_string(folder.join(name).with_extension("toml")).unwrap()
}
