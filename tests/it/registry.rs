//! The registry of rulesets, and properties of each ruleset with dice.

use turnfold_core::Registry;
use turnfold_core::any::erase;
use turnfold_core::rules::desk::Desk;
use turnfold_games::channel::Channel;
use turnfold_games::initiative::Initiative;
use turnfold_games::lifecycle::Lifecycle;
use turnfold_games::rulesets;

#[test]
fn a_registry_keeps_its_rulesets_by_name_and_once() {
    let names =
        |registry: &Registry| registry.iter().map(|rules| rules.name().to_owned()).collect::<Vec<_>>();
    let some = Registry::default().with(erase::<Lifecycle>()).with(erase::<Channel>());
    assert_eq!(names(&some), ["channel", "lifecycle"]);
    assert!(some.find("initiative").is_none());
    let all = turnfold_games::standard().replacing(erase::<Initiative>());
    assert_eq!(names(&all), names(&turnfold_games::standard()));
    assert!(all.find("initiative").is_some_and(|rules| rules.version() == 1));
}

#[test]
fn the_desk_is_always_there_and_no_game() {
    for registry in [Registry::default(), turnfold_games::standard()] {
        assert!(registry.find("desk").is_some());
        assert!(registry.iter().all(|rules| rules.name() != "desk"));
    }
}

#[test]
#[should_panic = "the ruleset name `initiative` is taken"]
fn a_name_that_is_taken_is_refused() {
    let _ = turnfold_games::standard().with(erase::<Initiative>());
}

#[test]
#[should_panic = "version 1 of the ruleset `desk` is taken"]
fn the_desk_has_no_other_version() {
    let _ = Registry::default().with_version(erase::<Desk>());
}

#[test]
fn a_roll_in_the_log_has_a_value() {
    let with_dice: Vec<_> =
        rulesets().into_iter().filter(|rules| rules.canonical("roll 1").is_ok()).collect();
    assert!(!with_dice.is_empty());
    for rules in with_dice {
        let is_roll = |verb: &u8| rules.command_text(&[*verb, 1, 2]).is_ok_and(|text| text == "roll 1");
        let verb = (0..20).find(is_roll).unwrap();
        assert!(rules.command_text(&[verb, 0]).is_err(), "{}", rules.name());
    }
}
