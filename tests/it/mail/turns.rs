//! What a turn does with dice and defaults that would never end (PM-27), without a desk.

use std::cell::RefCell;

use turnfold_core::any::erase;
use turnfold_core::{Registry, Seat};
use turnfold_replay::ReplayError;
use turnfold_replay::mail::GameTurn;

use super::siege::Siege;

type Dice<'a> = Box<dyn FnMut() -> Result<Vec<i32>, ReplayError> + 'a>;

/// Begins a turn of a siege behind seven entries, whose dice fall like this.
fn siege(mut dice: Dice<'_>) -> GameTurn<'_> {
    let registry = Registry::standard().with(erase::<Siege>());
    let rules = registry.find("siege").unwrap();
    let state = rules.start(&rules.read_setup("begins_with_roll = false").unwrap()).unwrap();
    GameTurn::new(state, 7, Box::new(move |_| dice()))
}

#[test]
fn pm_27_a_default_ends_after_1_000_commands() {
    let dice = RefCell::new(vec![2; 1001]);
    let mut turn = siege(Box::new(|| Ok(vec![dice.borrow_mut().remove(0)])));
    let played = turn.default(Seat::P1, &["attack".to_owned()]).unwrap();
    assert_eq!((played.len(), dice.borrow().len()), (2000, 1));
}

#[test]
fn pm_27_dice_that_fail_leave_the_game_as_it_was() {
    let mut turn = siege(Box::new(|| Err(ReplayError::Chance(std::io::Error::other("no dice")))));
    let before = turn.state().state_hash();
    assert!(turn.order(Seat::P1, ["attack"]).is_err());
    assert!(turn.default(Seat::P1, &["attack".to_owned()]).is_err());
    assert_eq!((turn.state().state_hash(), turn.head()), (before, 7));
    let wrong = siege(Box::new(|| Ok(vec![7]))).order(Seat::P1, ["attack"]);
    assert!(matches!(wrong, Err(ReplayError::OwnDice(rejected)) if rejected.code == "bad_roll"));
    let endless = siege(Box::new(|| Ok(vec![1]))).order(Seat::P1, ["attack"]);
    assert!(matches!(endless, Err(ReplayError::EndlessRolls(_))));
}
