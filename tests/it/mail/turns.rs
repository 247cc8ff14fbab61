//! Execution of turns in the game (PM-14, PM-19, PM-27, FD-11a), without a desk.

use std::cell::RefCell;

use turnfold_core::any::erase;
use turnfold_core::outcome::Code;
use turnfold_core::{AnyState, Seat};
use turnfold_games::rulesets;
use turnfold_history::{Record, ReplayError};
use turnfold_mail::{GameTerms, GameTurn, OrderEnd, PlayedRules};

use super::post::Post;
use super::siege::Siege;

fn start(ruleset: &str, setup: &str) -> Box<dyn AnyState> {
    let registry = turnfold_games::standard().with(erase::<Siege>());
    let rules = registry.find(ruleset).unwrap();
    rules.start(&rules.read_setup(setup).unwrap()).unwrap()
}

/// Starts a siege with these dice values.
fn siege(dice: &RefCell<Vec<i32>>, begins_with_roll: bool) -> GameTurn<'_> {
    let state = start("siege", &format!("begins_with_roll = {begins_with_roll}"));
    let roll = |_: &_| Ok(vec![dice.borrow_mut().remove(0)]);
    GameTurn::new(state, 0, Box::new(roll))
}

fn commands_of(played: &[Record]) -> Vec<String> {
    let seat = |record: &Record| record.seat.map(|seat| seat.to_string()).unwrap_or_default();
    played.iter().map(|record| format!("{} {}", seat(record), record.command)).collect()
}

/// Executes an order of `p1`, and returns what was played or why nothing was.
fn order(turn: &mut GameTurn<'_>, plays: &[&str]) -> Result<(usize, Vec<String>), Code> {
    match turn.order(Seat::P1, plays.iter().copied()).unwrap() {
        OrderEnd::Carried { count, played } => Ok((count, commands_of(&played))),
        OrderEnd::Refused(rejected) => Err(rejected.code),
    }
}

fn terms<'a>(default: &'a [String], between: &'a [String]) -> PlayedRules<'a> {
    PlayedRules { default, between }
}

fn commands(commands: &[&str]) -> Vec<String> {
    commands.iter().map(ToString::to_string).collect()
}

#[test]
fn pm_27_rolls_join_the_append_behind_the_command_that_made_them_due() {
    let dice = RefCell::new(vec![1, 1, 5]);
    let mut turn = siege(&dice, false);
    let played = order(&mut turn, &["attack", "enter", "stay"]).unwrap();
    let expected = ["p1 attack", "host roll 1", "host roll 1", "host roll 5", "p1 enter", "p1 stay"];
    assert_eq!(played, (3, commands(&expected)));
    assert_eq!((turn.head(), dice.borrow().len()), (6, 0));
}

#[test]
fn pm_27_an_order_that_the_game_rejects_is_refused_whole() {
    let dice = RefCell::new(Vec::new());
    let mut turn = siege(&dice, false);
    let before = turn.state().state_hash();
    assert_eq!(order(&mut turn, &["stay", "stay"]), Err(Code::from("day_ended")));
    assert_eq!(order(&mut turn, &["enter"]), Err(Code::from("gate_shut")));
    assert_eq!(order(&mut turn, &["dance"]), Err(Code::from("malformed")));
    assert_eq!(order(&mut turn, &["next"]), Err(Code::from("wrong_seat")));
    assert_eq!((turn.state().state_hash(), turn.head()), (before, 0));
}

#[test]
fn fd_11a_nothing_is_taken_back_behind_a_roll() {
    let dice = RefCell::new(vec![2, 4]);
    let mut turn = siege(&dice, false);
    assert_eq!(
        order(&mut turn, &["attack", "enter", "stay"]),
        Ok((1, commands(&["p1 attack", "host roll 2"])))
    );
    assert_eq!(dice.borrow().len(), 1, "there is no second roll for it");
    // Ignored commands are recorded as usual.
    let played = order(&mut turn, &["attack", "attack", "enter", "enter"]).unwrap();
    assert_eq!(played, (3, commands(&["p1 attack", "host roll 4", "p1 attack", "p1 enter"])));
}

#[test]
fn pm_27_a_roll_that_is_due_already_comes_first() {
    let dice = RefCell::new(vec![1, 4]);
    let mut turn = siege(&dice, true);
    assert_eq!(able(&turn), []);
    assert_eq!(commands_of(&turn.roll_due().unwrap()), ["host roll 1", "host roll 4"]);
    assert_eq!(commands_of(&turn.roll_due().unwrap()), [""; 0]);
    assert_eq!(able(&turn), [Seat::P1, Seat::P2]);
}

#[test]
fn pm_27_what_comes_between_waits_for_the_living_and_plays_for_the_gone() {
    let dice = RefCell::new(Vec::new());
    let (default, between) = (commands(&["stay"]), commands(&["attack", "next"]));
    let mut turn = siege(&dice, false);
    let both = [Seat::P1, Seat::P2];
    let none = turn.between(&both, &[], false, terms(&default, &between)).unwrap();
    assert!(none.played.is_empty() && !none.ends_round);
    order(&mut turn, &["stay"]).unwrap();
    let none = turn.between(&both, &[], false, terms(&default, &between)).unwrap();
    assert!(none.played.is_empty() && !none.ends_round);
    // After p2 has left, its default comes first, and then the host's command, which asks p1 again.
    let played = turn.between(&[Seat::P1], &[Seat::P2], true, terms(&default, &between)).unwrap();
    assert_eq!((commands_of(&played.played), played.ends_round), (commands(&["p2 stay", "host next"]), true));
    // A default that is not applied delays nothing. Without commands the game stays as it is.
    order(&mut turn, &["stay"]).unwrap();
    let none = turn.between(&[Seat::P1], &[Seat::P2], true, terms(&commands(&["enter"]), &between)).unwrap();
    assert!(none.played.is_empty() && !none.ends_round);
}

#[test]
fn pm_37_defaults_are_tried_in_their_order_and_at_most_20_are_played() {
    let dice = RefCell::new(vec![2; 30]);
    let mut turn = siege(&dice, false);
    // A pass gives each command once, and another pass begins while the game waits for the seat.
    let default = commands(&["dance", "attack", "enter", "attack"]);
    let played = turn.default(Seat::P1, terms(&default, &[])).unwrap();
    let by_player = played.iter().filter(|record| record.seat == Some(Seat::P1)).count();
    assert_eq!((by_player, dice.borrow().len()), (20, 10));
    let played = turn.default(Seat::P2, terms(&commands(&["attack", "stay", "attack"]), &[])).unwrap();
    assert_eq!(commands_of(&played), ["p2 attack", "host roll 2", "p2 stay"]);
}

#[test]
fn pm_37_what_comes_between_follows_the_orders_of_each_turn() {
    let setup = turnfold_tests::sandbox::workspace().join("core/games/src/hexcapture/example.toml");
    let state = start("hexcapture", &std::fs::read_to_string(setup).unwrap());
    let mut turn = GameTurn::new(state, 0, Box::new(|_| Ok(vec![1])));
    let between = commands(&["tick 12"]);
    // p1 always has a legal command. Without orders nothing is played; with orders each command is played once.
    let of = |turn: &mut GameTurn<'_>, had_orders| {
        commands_of(&turn.between(&[Seat::P1], &[], had_orders, terms(&[], &between)).unwrap().played)
    };
    assert_eq!(of(&mut turn, false), [""; 0]);
    assert_eq!(of(&mut turn, true), ["host tick 12"]);
}

#[test]
fn pm_27_dice_that_fail_leave_the_game_as_it_was() {
    let state = start("siege", "begins_with_roll = false");
    let chance = || ReplayError::Chance(std::io::Error::other("no dice"));
    let mut turn = GameTurn::new(state, 7, Box::new(move |_| Err(chance())));
    let before = turn.state().state_hash();
    assert!(turn.order(Seat::P1, ["attack"]).is_err());
    assert!(turn.default(Seat::P1, terms(&commands(&["attack"]), &[])).is_err());
    assert_eq!((turn.state().state_hash(), turn.head()), (before, 7));
    let mut turn = siege_with(vec![7]);
    assert!(
        matches!(turn.order(Seat::P1, ["attack"]), Err(ReplayError::OwnDice(rejected)) if rejected.code == "bad_roll")
    );
    let mut turn = siege_with(vec![1]);
    assert!(matches!(turn.order(Seat::P1, ["attack"]), Err(ReplayError::EndlessRolls(_))));
}

/// Returns the players' seats that have a legal command.
fn able(turn: &GameTurn<'_>) -> Vec<Seat> {
    [Seat::P1, Seat::P2].into_iter().filter(|seat| !turn.state().legal(*seat).is_empty()).collect()
}

/// Starts a siege whose dice always have these values.
fn siege_with(values: Vec<i32>) -> GameTurn<'static> {
    GameTurn::new(start("siege", "begins_with_roll = false"), 0, Box::new(move |_| Ok(values.clone())))
}

#[test]
fn pm_14_planning_in_secret_asks_the_seats_with_a_legal_command() {
    let setup =
        std::fs::read_to_string(turnfold_tests::sandbox::workspace().join("fixtures/cycletap/ford.toml"))
            .unwrap();
    let mut turn = GameTurn::new(start("cycletap", &setup), 0, Box::new(|_| Ok(Vec::new())));
    let (default, between) = (commands(&["switch"]), commands(&["resolve"]));
    let both = [Seat::P1, Seat::P2];
    assert_eq!(able(&turn), [Seat::P1]);
    // p1 missed and p2 has ordered: p1's default is played first, and then p2's order is executed.
    assert_eq!(commands_of(&turn.default(Seat::P1, terms(&default, &[])).unwrap()), ["p1 switch"]);
    assert_eq!(able(&turn), [Seat::P2]);
    let OrderEnd::Carried { count: 1, played } = turn.order(Seat::P2, ["switch"]).unwrap() else {
        panic!("it is carried out")
    };
    assert_eq!(commands_of(&played), ["p2 switch"]);
    let played = turn.between(&both, &[], true, terms(&default, &between)).unwrap();
    assert_eq!((commands_of(&played.played), played.ends_round), (commands(&["host resolve"]), true));
    assert_eq!(able(&turn), [Seat::P1]);
}

#[test]
fn pm_3_the_terms_that_a_game_names_fit_it() {
    let named: Vec<_> = rulesets().into_iter().filter(|rules| !rules.mail_terms().is_empty()).collect();
    assert!(named.len() >= 4);
    for rules in named {
        let game = rules.start(&rules.read_setup(rules.example()).unwrap()).unwrap();
        let terms = GameTerms::complete(None, &*rules, game.as_ref());
        assert!(!terms.is_waiting);
        Post::begun(rules.name(), rules.example(), &terms.toml);
    }
}
