//! Nim keeps the laws of every ruleset, and its golden logs are what its rules compute.

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

#[test]
fn every_golden_log_is_what_the_rules_compute() {
    let registry = Registry::default().with(erase::<Nim>());
    let report = turnfold_replay::check(&registry, "replays").unwrap();
    assert!(report.is_good(), "{report}");
    assert_eq!(report.entries(), 3);
}
