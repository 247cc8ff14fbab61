//! How fast `initiative` folds, and what the dearest listing of legal commands costs.

use divan::Bencher;
use divan::counter::ItemsCount;
use turnfold_core::fold::fold;
use turnfold_core::rules::initiative::{Command, Initiative, Setup, State};
use turnfold_core::{Rules, Seat};

fn main() {
    divan::main();
}

/// Two lines of `units` each face each other over a board.
fn start(radius: u8, units: i32, mp: u32) -> State {
    let mut setup = format!("radius = {radius}\n");
    for column in 0..units {
        for (owner, row) in [("p1", 1), ("p2", -1)] {
            let at = column - units / 2;
            let unit =
                format!("id = \"{owner}-{column}\"\nowner = \"{owner}\"\nat = [{at}, {row}]\nmp = {mp}");
            setup.extend(["[[units]]\n", &unit, "\n"]);
        }
    }
    let setup: Setup = toml::from_str(&setup).expect("the setup is TOML");
    Initiative::start(&setup).expect("the setup can be played")
}

/// Whole turns in which everybody cycles, selects and stands.
fn turns(state: &State, turns: usize) -> Vec<(Seat, Command)> {
    let mut state = state.clone();
    let mut log = Vec::new();
    let mut play = |state: &mut State, command: Command| {
        let seat = Initiative::default_seat(state, &command);
        Initiative::apply(state, seat, &command, &mut ()).expect("the command is accepted");
        log.push((seat, command));
    };
    for _ in 0..turns {
        play(&mut state, Command::Roll(vec![1, 2, 3, 4]));
        while Initiative::judge(&state, Seat::Host, &Command::NextTurn).is_err() {
            for command in [Command::Cycle, Command::Confirm, Command::Stand] {
                play(&mut state, command);
            }
        }
        play(&mut state, Command::NextTurn);
    }
    log
}

#[divan::bench(args = [4, 16, 64])]
fn fold_turns(bencher: Bencher, units: i32) {
    let start = start(40, units, 4);
    let log = turns(&start, 20);
    bencher.counter(ItemsCount::new(log.len())).bench(|| {
        let mut state = start.clone();
        fold::<Initiative>(&mut state, log.iter().map(|(seat, command)| (*seat, command))).expect("it folds");
        state
    });
}

#[divan::bench(args = [8, 25, 50])]
fn legal_moves_of_a_unit_that_reaches_everything(bencher: Bencher, radius: u8) {
    let mut state = start(radius, 4, 200);
    for command in [Command::Roll(vec![1, 2, 3, 4]), Command::Confirm] {
        let seat = Initiative::default_seat(&state, &command);
        Initiative::apply(&mut state, seat, &command, &mut ()).expect("the command is accepted");
    }
    bencher.bench(|| {
        let legal = Initiative::legal(&state, Seat::P1);
        assert!(legal.len() > 150, "the unit reaches the whole board");
        legal
    });
}
