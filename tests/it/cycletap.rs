//! The ruling of `cycletap`, rule by rule, through the public API.
//!
//! A test is a script: what is done or asked and what must come of it, parted by ` => `.

use serde_json::Value;
use turnfold_core::any::AnyState;
use turnfold_core::{CommandSource, DicePolicy, FoldError, Logged, Seat, registry};

mod binary;
mod execution;
mod movement;
mod orders;
mod properties;
mod random;
mod rejections;
mod secrecy;
mod setups;
mod taps;
mod views;

/// Writes a setup; each unit is `OWNER KIND Q,R` or `OWNER KIND Q,R STRENGTH`, parted by `; `.
fn setup(top: &str, units: &str) -> String {
    let unit = |unit: &str| {
        let words: Vec<&str> = unit.split(' ').collect();
        let [owner, kind, at, strength @ ..] = words.as_slice() else { panic!("`{unit}` is no unit") };
        let strength = strength.first().map(|strength| format!("strength = {strength}\n"));
        let strength = strength.unwrap_or_default();
        format!("[[units]]\nowner = \"{owner}\"\nkind = \"{kind}\"\nat = [{at}]\n{strength}")
    };
    [top, "\n"].into_iter().map(String::from).chain(units.split("; ").map(unit)).collect()
}

/// Starts a match from the text of a setup.
fn start(toml: &str) -> Box<dyn AnyState> {
    let rules = registry::find("cycletap").unwrap();
    rules.start(&rules.read_setup(toml).unwrap()).unwrap()
}

/// Runs a script from a setup; every line must come out as it says.
///
/// - `SEAT COMMAND => OUTCOME`: the effects, `ignored REASON` or `rejected CODE`
/// - `SEAT: COMMAND COMMAND …`: all of them are applied; a tap is written as its hex alone
/// - `view SEAT POINTER => JSON`: a part of the seat's view
/// - `ask SEAT QUESTION => TEXT` and `json SEAT QUESTION => JSON`: the two forms of an answer
/// - `legal SEAT => COMMANDS`: parted by `; `
fn check(toml: &str, script: &str) {
    let mut state = start(toml);
    let mut wrong = Vec::new();
    for line in script.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some((seat, commands)) = line.split_once(": ").filter(|(seat, _)| !seat.contains(' ')) {
            play(&mut *state, seat.parse().unwrap(), commands);
            continue;
        }
        // A line without an outcome expects none, such as an empty list.
        let line = line.strip_suffix(" =>").map_or_else(|| line.to_owned(), |line| format!("{line} => "));
        let (asked, expected) = line.split_once(" => ").unwrap();
        let found = answer(&mut *state, asked);
        if found != expected {
            wrong.push(format!("{asked}\n  expected {expected}\n  found    {found}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn answer(state: &mut dyn AnyState, asked: &str) -> String {
    let (verb, rest) = asked.split_once(' ').unwrap();
    let (first, more) = rest.split_once(' ').unwrap_or((rest, ""));
    let seat = || first.parse::<Seat>().unwrap();
    match verb {
        "view" => member(state, seat(), more),
        "ask" => state.query(seat(), more).map_or_else(|error| error.to_string(), |answer| answer.text),
        "json" => {
            state.query(seat(), more).map_or_else(|error| error.to_string(), |answer| answer.json.to_string())
        }
        "legal" => state.legal(seat()).join("; "),
        seat => told(state, seat.parse().unwrap(), rest),
    }
}

fn member(state: &dyn AnyState, viewer: Seat, pointer: &str) -> String {
    let view: Value = serde_json::from_str(&state.view(viewer)).unwrap();
    view.pointer(pointer).unwrap_or_else(|| panic!("the view has no `{pointer}`")).to_string()
}

/// Plays commands that are all applied; a tap may be written as its hex alone.
fn play(state: &mut dyn AnyState, seat: Seat, commands: &str) {
    for word in commands.split(' ') {
        let command = if word.contains(',') { format!("tap {word}") } else { word.to_owned() };
        let told = told(state, seat, &command);
        assert!(!told.starts_with("ignored ") && !told.starts_with("rejected "), "{seat} {command}: {told}");
    }
}

/// Folds a command and tells what became of it; ignored and rejected ones must change nothing.
fn told(state: &mut dyn AnyState, seat: Seat, command: &str) -> String {
    let before = state.state_bytes();
    let entry = Logged { seq: 1, seat, command: CommandSource::Text(command) };
    let mut told = String::new();
    match state.fold(&[entry], &DicePolicy::Recorded, &mut |step| told = step.outcome().to_string()) {
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
