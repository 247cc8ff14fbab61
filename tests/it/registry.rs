//! The registry of rulesets, and what is so of each that has dice.

use turnfold_core::any::erase;
use turnfold_core::registry::RULESETS;
use turnfold_core::rules::channel::Channel;
use turnfold_core::rules::initiative::Initiative;
use turnfold_core::rules::lifecycle::Lifecycle;
use turnfold_core::{AnyRules, Registry};

#[test]
fn a_registry_keeps_its_rulesets_by_name_and_once() {
    let names = |registry: &Registry| registry.iter().map(AnyRules::name).collect::<Vec<_>>();
    let some = Registry::default().with(erase::<Lifecycle>()).with(erase::<Channel>());
    assert_eq!(names(&some), ["channel", "lifecycle"]);
    assert!(some.find("initiative").is_none());
    let all = Registry::standard().with(erase::<Initiative>());
    assert_eq!(names(&all), names(&Registry::standard()));
    assert!(all.find("initiative").is_some_and(|rules| rules.version() == 1));
}

#[test]
fn a_roll_in_the_log_has_a_value() {
    let with_dice: Vec<_> = RULESETS.iter().filter(|rules| rules.canonical("roll 1").is_ok()).collect();
    assert!(!with_dice.is_empty());
    for rules in with_dice {
        let is_roll = |verb: &u8| rules.command_text(&[*verb, 1, 2]).is_ok_and(|text| text == "roll 1");
        let verb = (0..20).find(is_roll).unwrap();
        assert!(rules.command_text(&[verb, 0]).is_err(), "{}", rules.name());
    }
}
