//! The ruling of `initiative`, rule by rule, through the public API.
//!
//! A test is a script: what is done or asked and what must come of it, parted by ` => `.

use std::path::PathBuf;

use serde_json::Value;
use turnfold_core::any::AnyState;
use turnfold_core::{CommandSource, DicePolicy, FoldError, Logged, Seat, StepOutcome, registry};

mod reach;
mod rejections;
mod setups;
mod turns;
mod units;
mod views;

/// Two machines of p1 against one of p2: if p1 loses, it moves both before p2 moves.
const TWO_AGAINST_ONE: &str = r#"
    radius = 3
    blocked = [[0, 0]]
    [[units]]
    id = "atlas"
    owner = "p1"
    name = "Atlas AS7-D"
    at = [0, 2]
    mp = 2
    [[units]]
    id = "kit-fox"
    owner = "p2"
    name = "Kit Fox Prime"
    at = [0, -2]
    mp = 6
    [[units]]
    id = "locust"
    owner = "p1"
    at = [1, 2]
    mp = 8
"#;

/// Starts a match from the text of a setup.
fn start(toml: &str) -> Box<dyn AnyState> {
    let rules = registry::find("initiative").unwrap();
    rules.start(&rules.read_setup(toml).unwrap()).unwrap()
}

/// Reads a fixture by name.
fn fixture(name: &str) -> String {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../fixtures/initiative");
    std::fs::read_to_string(folder.join(name).with_extension("toml")).unwrap()
}

/// Runs a script from a setup; every line must come out as it says.
///
/// - `SEAT COMMAND => OUTCOME`: the effects, `ignored REASON`, `ignored REASON "MESSAGE"` or `rejected CODE`
/// - `view KEY => JSON`: a member of the view
/// - `ask QUESTION => TEXT` and `json QUESTION => JSON`: the two forms of an answer
/// - `legal SEAT => COMMANDS`: parted by `; `, moves left out
fn check(toml: &str, script: &str) {
    let mut state = start(toml);
    let mut seq = 0;
    let mut wrong = Vec::new();
    for line in script.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        // A line without an outcome expects none, such as an empty answer.
        let line = line.strip_suffix(" =>").map_or_else(|| line.to_owned(), |line| format!("{line} => "));
        let (asked, expected) = line.split_once(" => ").unwrap();
        let (first, rest) = asked.split_once(' ').unwrap();
        let found = match first {
            "view" => member(&*state, rest),
            "ask" => state.query(Seat::P1, rest).map_or_else(|error| error.to_string(), |answer| answer.text),
            "json" => {
                state.query(Seat::P1, rest).map_or_else(|error| error.to_string(), |answer| answer.json)
            }
            "legal" => legal(&*state, rest.parse().unwrap()),
            seat => {
                seq += 1;
                told(&mut *state, seq, seat.parse().unwrap(), rest)
            }
        };
        if found != expected {
            wrong.push(format!("{asked}\n  expected {expected}\n  found    {found}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn member(state: &dyn AnyState, key: &str) -> String {
    let view: Value = serde_json::from_str(&state.view(Seat::P1)).unwrap();
    view.get(key).unwrap_or_else(|| panic!("the view has no `{key}`")).to_string()
}

fn legal(state: &dyn AnyState, seat: Seat) -> String {
    let mut commands = state.legal(seat);
    commands.retain(|command| !command.starts_with("move "));
    commands.join("; ")
}

/// Folds a command and tells what became of it; ignored and rejected ones must change nothing.
fn told(state: &mut dyn AnyState, seq: u64, seat: Seat, command: &str) -> String {
    let before = state.state_bytes();
    let entry = Logged { seq, seat, command: CommandSource::Text(command) };
    let mut told = String::new();
    let folded = state.fold(&[entry], &DicePolicy::Recorded, &mut |step| {
        told = match step.outcome() {
            StepOutcome::Ignored { reason, text: Some(text) } => format!("ignored {reason} {text:?}"),
            StepOutcome::Ignored { .. } | StepOutcome::Applied => step.outcome_text(),
        };
    });
    match folded {
        Ok(()) => {}
        Err(FoldError::Rejected { code, .. }) => told = format!("rejected {code}"),
        Err(FoldError::Malformed { .. }) => told = "rejected malformed".into(),
        Err(error) => panic!("{error}"),
    }
    if told.starts_with("ignored ") || told.starts_with("rejected ") {
        assert_eq!(state.state_bytes(), before, "`{command}` is {told} and changed the state");
    }
    told
}
