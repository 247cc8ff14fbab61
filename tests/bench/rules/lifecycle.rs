//! What `advance` costs with 200 units, however many ticks pass, and what prediction, legal commands and turns cost.

use divan::Bencher;
use divan::counter::ItemsCount;
use turnfold_core::rules::lifecycle::{Command, Lifecycle, Setup, State};
use turnfold_core::{Rules, Seat};

fn main() {
    divan::main();
}

/// 200 units of this speed, with a skill each.
fn start(speed: u32) -> State {
    let mut setup = String::new();
    for number in 0..200 {
        let team = if number % 2 == 0 { "player" } else { "enemy" };
        let unit = format!(
            "[[units]]\nid = \"unit-{number}\"\nteam = \"{team}\"\nhp = 100\nspeed = {speed}\n\
             skills = [{{ id = \"mend\", ap = 1, cooldown = 1, target = \"any\", heal = 1 }}]\n"
        );
        setup.push_str(&unit);
    }
    let setup: Setup = toml::from_str(&setup).expect("the setup is TOML");
    Lifecycle::start(&setup).expect("the setup can be played")
}

fn play(state: &mut State, command: &Command) {
    let seat = Lifecycle::default_seat(state, command);
    Lifecycle::apply(state, seat, command, &mut ()).expect("the command is accepted");
}

/// 100, 50, 10 and 1 ticks pass before the first turn, and it costs the same.
#[divan::bench(args = [1, 2, 10, 100])]
fn advance_of_200_units_at_speed(bencher: Bencher, speed: u32) {
    let start = start(speed);
    bencher.with_inputs(|| start.clone()).bench_local_refs(|state| play(state, &Command::Advance));
}

#[divan::bench(args = [5, 100, 1000])]
fn predict_turns_of_200_units(bencher: Bencher, count: u32) {
    let start = start(10);
    let question = format!("predict {count}");
    bencher
        .counter(ItemsCount::new(count))
        .bench(|| Lifecycle::query(&start, Seat::P1, &question).expect("the question can be answered"));
}

#[divan::bench]
fn legal_commands_among_200_units(bencher: Bencher) {
    let mut state = start(10);
    play(&mut state, &Command::Advance);
    let active = Lifecycle::default_seat(&state, &Command::End);
    bencher.bench(|| Lifecycle::legal(&state, active));
}

#[divan::bench]
fn fold_400_turns_of_200_units(bencher: Bencher) {
    let start = start(10);
    bencher.counter(ItemsCount::new(800_u32)).bench(|| {
        let mut state = start.clone();
        for _ in 0..400 {
            play(&mut state, &Command::Advance);
            play(&mut state, &Command::End);
        }
        state
    });
}
