//! The attack that a printed state hash allows: guessing a small secret until the hash fits.

use std::fs;

use turnfold_core::registry::find;
use turnfold_core::{AnyState, CommandSource, DicePolicy, Logged, Seat};

use turnfold_tests::sandbox::Sandbox;

const TAPS_MAX: usize = 4;

/// A plan of p1's, and the hash of the state that it leads to.
struct Guess {
    taps: Vec<String>,
    hash: String,
}

/// Works out every plan of up to so many taps, as anyone can who knows the rules and the setup.
fn guesses() -> Vec<Guess> {
    let setup = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../fixtures/cycletap/ford.toml"));
    let rules = find("cycletap").unwrap();
    let state = rules.start(&rules.read_setup(&setup.unwrap()).unwrap()).unwrap();
    let mut guesses = Vec::new();
    guess(&*state, &mut Vec::new(), &mut guesses);
    guesses
}

fn guess(state: &dyn AnyState, taps: &mut Vec<String>, guesses: &mut Vec<Guess>) {
    guesses.push(Guess { taps: taps.clone(), hash: state.state_hash().to_string() });
    if taps.len() == TAPS_MAX {
        return;
    }
    for command in state.legal(Seat::P1).into_iter().filter(|command| command.starts_with("tap ")) {
        let mut next = state.fork();
        let entry = Logged { seq: 1, seat: Seat::P1, command: CommandSource::Text(&command) };
        next.fold(&[entry], &DicePolicy::Recorded, &mut |_| {}).unwrap();
        taps.push(command);
        guess(&*next, taps, guesses);
        taps.pop();
    }
}

/// What p2 is told by a rejected command after p1 has planned, and what the host knows.
fn told(plan: &Guess) -> (String, String) {
    let sandbox = Sandbox::new();
    sandbox.ok("new ford --rules cycletap --setup fixtures/cycletap/ford.toml");
    let taps: Vec<_> = plan.taps.iter().map(|tap| format!("\"{tap}\"")).collect();
    sandbox.ok(&format!("play ford {}", taps.join(" ")));
    let mut told = String::new();
    for options in ["", "-vv ", "--format json "] {
        let output = sandbox.run(&format!("{options}play ford --as p2 back"));
        assert_eq!(output.status.code(), Some(1));
        told += &String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    }
    (told, sandbox.ok("log ford"))
}

#[test]
fn ct_19_no_guess_of_a_plan_can_be_tried_on_what_a_rejected_command_tells() {
    let guesses = guesses();
    assert!(guesses.len() > 700, "only {} guesses", guesses.len());
    let plans = guesses.iter().filter(|guess| guess.taps.len() == TAPS_MAX).step_by(150);
    let all: Vec<_> = plans.map(|plan| (plan, told(plan))).collect();
    let (_, (first, _)) = &all[0];
    for (plan, (told, log)) in &all {
        assert_eq!(told, first, "{:?}", plan.taps);
        // What the host is told leaves only the few plans that come to the same: where there is a hash, the attack works.
        let fits = |text: &str, digits| {
            guesses.iter().filter(|guess| text.contains(&guess.hash[..digits])).collect::<Vec<_>>()
        };
        let fitting = fits(log.lines().last().unwrap(), 16);
        assert!(fitting.iter().any(|guess| guess.taps == plan.taps) && fitting.len() < 20, "{log}");
        assert!(fits(told, 8).is_empty(), "{told}");
    }
}
