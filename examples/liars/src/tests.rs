//! Liar's dice keeps the laws of every ruleset, and its golden logs are what its rules compute.

use turnfold_core::Registry;
use turnfold_core::any::erase;
use turnfold_laws::{Fixture, require_kept};

use super::Liars;

#[test]
fn liars_dice_keeps_every_law() {
    let rules = &*erase::<Liars>();
    let fixture = |name: &str, toml: &str| Fixture { name: name.into(), toml: toml.into() };
    let duel = fixture("duel", "players = 2\ndice = 1");
    let six = fixture("six", "players = 6\ndice = 1");
    require_kept(rules, &[Fixture::example(rules), duel, six]);
}

#[test]
fn every_golden_log_is_what_the_rules_compute() {
    let registry = Registry::default().with(erase::<Liars>());
    let report = turnfold_replay::check(&registry, "replays").unwrap();
    assert!(report.is_good(), "{report}");
    assert_eq!(report.entries(), 30);
}
