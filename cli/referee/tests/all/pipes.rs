//! RF-2: what serves a module serves a program too: the same ruleset over pipes plays the same matches.

use std::env;

use turnfold_core::registry::RefereeSource as _;
use turnfold_core::{CommandSource, DicePolicy, Logged, Perspective, Simulation};
use turnfold_referee::Referees;

#[test]
#[expect(clippy::print_stderr, reason = "a skipped test reports that")]
fn rf_2_a_ruleset_in_rust_is_a_referee_of_the_same_states_and_hashes() {
    let tests = env::current_exe().unwrap();
    let example = tests.ancestors().nth(2).unwrap().join("examples/initiative-referee");
    if !example.exists() {
        eprintln!(
            "SKIPPED: the example `initiative-referee` was not built; `cargo test -p turnfold-referee` builds it"
        );
        return;
    }
    let mut referees = Referees::new(1);
    referees.add(&format!("initiative='{}'", example.display())).unwrap();
    let referee = referees.by_name("initiative").unwrap().unwrap();
    let native = turnfold_games::find("initiative").unwrap();
    assert_eq!(referee.example(), native.example());
    let setup = native.read_setup(native.example()).unwrap();
    assert_eq!(referee.read_setup(native.example()), Ok(setup.clone()));
    let (mut one, mut other) = (native.start(&setup).unwrap(), referee.start(&setup).unwrap());
    let (play, dice) = (Simulation::new(1), DicePolicy::Recorded);
    for seq in 1..=60 {
        let drawn = play.draw(&*one, &dice, seq);
        assert_eq!(play.draw(&*other, &dice, seq), drawn);
        let Some((seat, command)) = drawn else { break };
        let entry = [Logged { seq, seat, command: CommandSource::Text(&command) }];
        let [folded, again] = [&mut one, &mut other].map(|state| {
            let mut shown = String::new();
            let folded = state.fold(&entry, &dice, &mut |step| {
                shown = format!("{} {} {}", step.command(), step.outcome(), step.state_hash());
            });
            folded.unwrap();
            shown + &state.view(Perspective::Spectator)
        });
        assert_eq!(folded, again);
    }
    assert_eq!(one.state_hash(), other.state_hash());
}
