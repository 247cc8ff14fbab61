//! Random play is legal, the same on every machine, and the same when continued from any point.

use std::collections::BTreeSet;

use turnfold_core::{AnyState, DicePolicy, Seat, Seed, Simulation};
use turnfold_games::rulesets;

use crate::script::{fixture, start};
use turnfold_tests::fixtures;

/// Plays from a state, and returns the played entries as lines.
fn play(state: &mut dyn AnyState, dice: &DicePolicy, seed: u64, seq: u64, count: u64) -> Vec<String> {
    let mut lines = Vec::new();
    let played = Simulation::new(seed)
        .play(state, dice, seq, count, &mut |step| {
            lines.push(format!("{} {} {}", step.seq(), step.seat(), step.command()));
        })
        .unwrap();
    assert_eq!(u64::try_from(lines.len()), Ok(played));
    lines
}

#[test]
fn every_command_drawn_is_legal_and_play_ends_when_none_is() {
    let dice = DicePolicy::Recorded;
    for rules in rulesets() {
        for fixture in fixtures(rules.name()) {
            let mut state = start(rules.name(), &fixture.toml);
            for seq in 1..=150 {
                let seats = || state.players().iter().copied().chain([Seat::Host]);
                let Some((seat, command)) = Simulation::new(4).draw(&*state, &dice, seq) else {
                    assert!(seats().all(|seat| state.legal(seat).is_empty()), "{}: {seq}", fixture.name);
                    break;
                };
                let rolled = state.due_roll().is_some() && state.judge(seat, &command).is_ok();
                assert!(rolled || state.legal(seat).contains(&command), "{}: {seat} {command}", fixture.name);
                play(&mut *state, &dice, 4, seq, 1);
            }
        }
    }
}

#[test]
fn every_legal_command_of_every_seat_is_drawn() {
    for (ruleset, setup, opening) in
        [("cycletap", "close-quarters", 1), ("hexcapture", "small-world", 9), ("lifecycle", "duel", 2)]
    {
        let mut state = start(ruleset, &fixture(ruleset, setup));
        play(&mut *state, &DicePolicy::Recorded, 1, 1, opening);
        let seats = state.players().iter().copied().chain([Seat::Host]);
        let commands = |seat| state.legal(seat).into_iter().map(move |command| (seat, command));
        let legal: BTreeSet<(Seat, String)> = seats.flat_map(commands).collect();
        let simulation = Simulation::new(2);
        let draws = (1..=2000).map(|seq| simulation.draw(&*state, &DicePolicy::Recorded, seq).unwrap());
        assert_eq!(draws.collect::<BTreeSet<_>>(), legal, "{ruleset}");
    }
}

#[test]
fn play_taken_up_again_goes_the_same_way() {
    for rules in rulesets() {
        for dice in [DicePolicy::Recorded, DicePolicy::Seeded(Seed::new([3; 32]))] {
            let toml = &fixtures(rules.name()).pop().unwrap().toml;
            let (mut whole, mut parts) = (start(rules.name(), toml), start(rules.name(), toml));
            let mut lines = play(&mut *parts, &dice, 9, 1, 20);
            let mut resumed = rules.resume(&parts.state_bytes(), parts.rolls()).unwrap();
            lines.extend(play(&mut *resumed, &dice, 9, 21, 40));
            assert_eq!(lines, play(&mut *whole, &dice, 9, 1, 60), "{}", rules.name());
        }
    }
}
