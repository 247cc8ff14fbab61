//! The look-ahead of the rules: options, predictions, paths and legal commands.

use std::time::Duration;

use turnfold_core::{AnyState, CommandSource, DicePolicy, Logged, Seat};

use crate::measure::{Clock, fastest_of, time};
use crate::report::{Table, Time, count, growth, ratio};
use crate::{Scale, row, setups, yardstick};

/// How long a look-ahead is repeated for its measurement.
const REPEATED_FOR: Duration = Duration::from_millis(100);

/// A question and the size of its input.
struct Case {
    items: u32,
    ask: Box<dyn Fn() -> u32>,
    /// The expected answer of `ask`.
    answer: u32,
}

impl Case {
    /// Returns the time of one call of `ask`.
    fn time(&self, scale: Scale) -> Duration {
        let ask = || assert_eq!((self.ask)(), self.answer, "the answer is always the same");
        let once = time(ask).max(Duration::from_nanos(1));
        let repeats = (REPEATED_FOR.as_nanos() / once.as_nanos()).clamp(1, 10_000);
        let repeats = u32::try_from(repeats).expect("ten thousand at most");
        fastest_of(Clock::Thread, scale.rounds(), || (0..repeats).for_each(|_| ask())) / repeats
    }
}

fn start(ruleset: &str, toml: &str) -> Box<dyn AnyState> {
    let rules = turnfold_games::find(ruleset).expect("the ruleset is registered");
    let setup = rules.read_setup(toml).expect("the setup can be played");
    rules.start(&setup).expect("the setup can be played")
}

/// Plays a command, and returns its outcome.
fn play(state: &mut dyn AnyState, command: &str) -> String {
    let seat = state.default_seat(command).expect("the text is a command");
    let logged = Logged { seq: 1, seat, command: CommandSource::Text(command) };
    let mut outcome = String::new();
    let folded =
        state.fold(&[logged], &DicePolicy::Recorded, &mut |step| outcome = step.outcome().to_string());
    folded.expect("the command is accepted");
    outcome
}

/// Returns the case that counts the legal commands in a state.
fn legal(state: Box<dyn AnyState>, seat: Seat, items: u32) -> Case {
    let ask = move || count(state.legal(seat).len());
    let answer = ask();
    assert!(answer > 0, "there is something to be found");
    Case { items, ask: Box::new(ask), answer }
}

fn channel_options() -> Case {
    let mut state = start("channel", &setups::fullest_channel());
    play(state.as_mut(), "channel 2");
    legal(state, Seat::P1, 1)
}

fn lifecycle_prediction(units: usize, turns: u32) -> Case {
    let state = start("lifecycle", &setups::lifecycle(units));
    let question = format!("predict {turns}");
    let ask = move || {
        let answer = state.query(Seat::P1.into(), &question).expect("the question can be answered");
        let predicted: serde_json::Value = serde_json::from_str(&answer.json).expect("the answer is JSON");
        count(predicted.as_array().expect("the answer is a list").len())
    };
    Case { items: turns, ask: Box::new(ask), answer: turns }
}

/// A release to an unreachable cell, which searches the whole board.
fn hexcapture_release(radius: i32) -> Case {
    let goal = radius / 2 + 3;
    let mut state = start("hexcapture", &setups::walled_cell(radius, goal));
    for command in ["move se", "act", "tick 7", "roll 0", "release"] {
        play(state.as_mut(), command);
    }
    (1..goal).for_each(|_| drop(play(state.as_mut(), "move se")));
    play(state.as_mut(), "act");
    let ask = move || {
        let outcome = play(state.fork().as_mut(), "tick 1000");
        u32::from(outcome.contains("release_blocked"))
    };
    let cells = 3 * radius * (radius + 1) + 1;
    Case { items: cells.unsigned_abs(), ask: Box::new(ask), answer: 1 }
}

/// Taps on a board with 40 units, one of which is selected.
fn cycletap_legal(radius: i32) -> Case {
    let mut state = start("cycletap", &setups::cycletap(radius, 40));
    let first = state.legal(Seat::P1).into_iter().find(|command| command.starts_with("tap "));
    play(state.as_mut(), &first.expect("a unit can be selected"));
    let hexes = 3 * radius * (radius + 1) + 1;
    legal(state, Seat::P1, hexes.unsigned_abs())
}

pub(crate) fn table(scale: Scale) -> Table {
    let row = |name: &str, size: &str, cases: &[Case]| {
        let times: Vec<_> = cases.iter().map(|case| (case.items, case.time(scale))).collect();
        let (base, last) = times.first().zip(times.last()).expect("there is a case");
        let grown = times.iter().skip(1).map(|&time| {
            format!("{} at {}", growth(*base, time), ratio(f64::from(time.0), f64::from(base.0)))
        });
        let yards = last.1.as_secs_f64() / yardstick().as_secs_f64();
        row![name, size, Time(last.1), format!("{yards:.0}"), grown.collect::<Vec<_>>().join(", ")]
    };
    let rows = vec![
        row("`channel`: the moves of a channel's first step", "fullest board", &[channel_options()]),
        row(
            "`lifecycle`: `predict N`",
            "N = 1000, 200 units",
            &[10, 100, 1000].map(|turns| lifecycle_prediction(200, turns)),
        ),
        row("`hexcapture`: a blocked release", "radius 40, 4,921 cells", &[13, 40].map(hexcapture_release)),
        row(
            "`cycletap`: legal commands",
            "radius 40, 4,921 hexes, 40 units",
            &[4, 13, 40].map(cycletap_legal),
        ),
    ];
    Table {
        title: "Look-ahead",
        about: "One answer at the largest size. *Growth* is the time for each predicted turn, cell or hex, \
                relative to the smallest size, at a multiple of that size."
            .to_owned(),
        columns: &["question", "size", "time", "yards", "growth"],
        rows,
    }
}
