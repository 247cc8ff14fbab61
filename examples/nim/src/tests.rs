//! Nim keeps the laws of every ruleset, and its golden logs are what the rules of their version compute.

use std::fs;

use turnfold_core::Registry;
use turnfold_core::any::erase;
use turnfold_laws::{Fixture, require_kept};

use super::Nim;

#[test]
fn nim_keeps_every_law() {
    let rules = erase::<Nim>();
    let even = Fixture { name: "even".into(), toml: "heaps = [2, 2]".into() };
    require_kept(&*rules, &[Fixture::example(&*rules), even]);
}

/// MD-9: version 1 is a module, version 2 is built in.
#[test]
fn every_golden_log_is_what_the_rules_of_its_version_compute() {
    let file = fs::read("../../fixtures/modules/nim-1.wasm").unwrap();
    let first = turnfold_referee::load(&file).unwrap();
    let registry = Registry::default().with(erase::<Nim>()).with_version(first);
    let report = turnfold_history::check(&registry, "replays").unwrap();
    assert!(report.is_good(), "{report}");
    assert_eq!(report.entries(), 3 + 5);
}
