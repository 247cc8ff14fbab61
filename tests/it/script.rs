//! Scripts that prove rulings: what is done or asked and what must come of it, parted by ` => `.

use std::path::PathBuf;

use serde_json::Value;
use turnfold_core::any::AnyState;
use turnfold_core::{CommandSource, DicePolicy, FoldError, Logged, Seat, Verdict, registry};

/// Starts a match from the text of a setup.
pub(crate) fn start(ruleset: &str, toml: &str) -> Box<dyn AnyState> {
    let rules = registry::find(ruleset).unwrap();
    rules.start(&rules.read_setup(toml).unwrap()).unwrap()
}

/// Reads a fixture by name.
pub(crate) fn fixture(ruleset: &str, name: &str) -> String {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../fixtures").join(ruleset);
    std::fs::read_to_string(folder.join(name).with_extension("toml")).unwrap()
}

/// Runs a script from a setup; every line must come out as it says.
///
/// - `SEAT COMMAND => OUTCOME`: the effects, `ignored REASON`, `ignored REASON "MESSAGE"` or `rejected CODE`
/// - `view KEY => JSON`: a member of the view
/// - `units KEY => JSON | JSON`: a member of each unit of the view
/// - `ask QUESTION => TEXT` and `json QUESTION => JSON`: the two forms of an answer
/// - `legal SEAT => COMMANDS`: parted by `; `, moves to hexes left out
pub(crate) fn check(ruleset: &str, toml: &str, script: &str) {
    let mut state = start(ruleset, toml);
    let mut seq = 0;
    let mut wrong = Vec::new();
    for line in script.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        // A line without an outcome expects none, such as an empty answer.
        let line = line.strip_suffix(" =>").map_or_else(|| line.to_owned(), |line| format!("{line} => "));
        let (asked, expected) = line.split_once(" => ").unwrap();
        let (first, rest) = asked.split_once(' ').unwrap();
        let found = match first {
            "view" => member(&*state, rest).to_string(),
            "units" => of_units(&*state, rest),
            "ask" => state.query(Seat::P1, rest).map_or_else(|error| error.to_string(), |answer| answer.text),
            "json" => state
                .query(Seat::P1, rest)
                .map_or_else(|error| error.to_string(), |answer| answer.json.to_string()),
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

fn member(state: &dyn AnyState, key: &str) -> Value {
    let mut view: Value = serde_json::from_str(&state.view(Seat::P1)).unwrap();
    view.get_mut(key).unwrap_or_else(|| panic!("the view has no `{key}`")).take()
}

fn of_units(state: &dyn AnyState, key: &str) -> String {
    let units = member(state, "units");
    let values: Vec<String> = units.as_array().unwrap().iter().map(|unit| unit[key].to_string()).collect();
    values.join(" | ")
}

fn legal(state: &dyn AnyState, seat: Seat) -> String {
    let mut commands = state.legal(seat);
    commands.retain(|command| !command.starts_with("move "));
    commands.join("; ")
}

/// Folds a command and tells what became of it; ignored and rejected ones must change nothing.
pub(crate) fn told(state: &mut dyn AnyState, seq: u64, seat: Seat, command: &str) -> String {
    let before = state.state_bytes();
    let entry = Logged { seq, seat, command: CommandSource::Text(command) };
    let mut told = String::new();
    let folded = state.fold(&[entry], &DicePolicy::Recorded, &mut |step| {
        told = step.outcome().to_string();
        if let Verdict::Ignored(ruling) = step.verdict() {
            told.extend(ruling.text.map(|text| format!(" {text:?}")));
        }
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
