//! Checks that every ruleset keeps the laws.

use std::thread;

use turnfold_core::AnyRules;
use turnfold_games::rulesets;
use turnfold_laws::{Fixture, broken_laws};

use crate::repository;

#[test]
fn every_registered_ruleset_keeps_every_law() {
    assert!(!rulesets().is_empty());
    let check = |rules: &dyn AnyRules| {
        let fixtures = Fixture::read_all(&repository("fixtures").join(rules.name())).unwrap();
        broken_laws(rules, &fixtures)
    };
    let broken: Vec<String> = thread::scope(|scope| {
        let checks: Vec<_> =
            rulesets().into_iter().map(|rules| scope.spawn(move || check(&*rules))).collect();
        checks.into_iter().flat_map(|check| check.join().unwrap()).collect()
    });
    assert!(broken.is_empty(), "{} broken laws:\n{}", broken.len(), broken.join("\n"));
}

#[test]
fn a_ruleset_without_fixtures_breaks_a_law() {
    for rules in rulesets() {
        assert_eq!(broken_laws(&*rules, &[]).len(), 1);
    }
}
