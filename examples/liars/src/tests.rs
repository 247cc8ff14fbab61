//! Liar's dice keeps the laws of every ruleset, and its golden logs are what its rules compute.

use turnfold_core::any::erase;
use turnfold_core::{CommandSource, DicePolicy, Digest, FoldError, Logged, Registry, Seat};
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
    let report = turnfold_history::check(&registry, "replays").unwrap();
    assert!(report.is_good(), "{report}");
    assert_eq!(report.entries(), 30);
}

/// Fair dice have no roll of one's own; but a roll that is rejected is rejected first, as a module's is (RF-8).
#[test]
fn fair_dice_refuse_an_own_roll_that_is_not_rejected() {
    let rules = erase::<Liars>();
    let setup = rules.read_setup("players = 2\ndice = 2").unwrap();
    let fold = |seat, command| {
        let entry = Logged { seq: 1, seat, command: CommandSource::Text(command) };
        let dice = DicePolicy::Fair(Digest::new([7; 32]));
        rules.start(&setup).unwrap().fold(&[entry], &dice, &mut |_| {})
    };
    assert_eq!(fold(Seat::Host, "roll 3 4"), Err(FoldError::OwnedFairRoll { seq: 1, owner: Seat::P1 }));
    for (seat, command) in [(Seat::P1, "roll 3 4"), (Seat::Host, "roll 3"), (Seat::Host, "roll 3 7")] {
        assert!(matches!(fold(seat, command), Err(FoldError::Rejected { .. })), "{seat} {command}");
    }
}
