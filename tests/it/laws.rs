//! Every ruleset keeps the laws, and one that breaks a law is caught.

use std::thread;

use turnfold_core::AnyRules;
use turnfold_core::registry::RULESETS;
use turnfold_laws::broken_laws;
use turnfold_tests::fixtures;

mod toy;

#[test]
fn every_registered_ruleset_keeps_every_law() {
    assert!(!RULESETS.is_empty());
    let broken: Vec<String> = thread::scope(|scope| {
        let check =
            |rules: &'static &dyn AnyRules| scope.spawn(|| broken_laws(*rules, &fixtures(rules.name())));
        let checks: Vec<_> = RULESETS.iter().map(check).collect();
        checks.into_iter().flat_map(|check| check.join().unwrap()).collect()
    });
    assert!(broken.is_empty(), "{} broken laws:\n{}", broken.len(), broken.join("\n"));
}

#[test]
fn a_ruleset_without_fixtures_breaks_a_law() {
    for rules in RULESETS {
        assert_eq!(broken_laws(*rules, &fixtures("no such ruleset")).len(), 1);
    }
}
