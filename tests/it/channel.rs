//! The ruling of `channel`, rule by rule, through the public API.
//!
//! A test is a script: what is done or asked and what must come of it, parted by ` => `.

use std::fmt::Write as _;
use std::path::PathBuf;

use serde_json::Value;
use turnfold_core::any::AnyState;
use turnfold_core::{CommandSource, DicePolicy, FoldError, Logged, Seat, registry};

mod channels;
mod endings;
mod properties;
mod recorded;
mod rejections;
mod setups;
mod takes;
mod views;

/// A table as tests write it: what is not said is empty, fresh tokens, nothing known.
#[derive(Clone, Default)]
struct Table {
    yinyang: bool,
    /// For each player, the tokens and the rest of the board's lines.
    boards: Vec<String>,
    energies: String,
    active: Option<Seat>,
}

impl Table {
    /// A table for one player: tokens, and energies as `ID COLOR AT [ROW COL]`, parted by `, `.
    fn alone(tokens: &str, energies: &str) -> Self {
        Self::default().board(tokens, "").energies(energies)
    }

    fn board(mut self, tokens: &str, more: &str) -> Self {
        let known = if more.contains("known") { "" } else { "known = []\n" };
        self.boards.push(format!("[[boards]]\ntokens = \"{tokens}\"\n{known}{more}\n"));
        self
    }

    fn energies(mut self, energies: &str) -> Self {
        for energy in energies.split(", ").filter(|energy| !energy.is_empty()) {
            let words: Vec<&str> = energy.split_whitespace().collect();
            let [id, color, at, place @ ..] = words.as_slice() else { panic!("`{energy}` is no energy") };
            writeln!(self.energies, "[[energies]]\nid = {id}\ncolor = \"{color}\"\nat = \"{at}\"").unwrap();
            if let [row, col] = place {
                writeln!(self.energies, "row = {row}\ncol = {col}").unwrap();
            }
        }
        self
    }

    fn with_white(mut self) -> Self {
        self.yinyang = true;
        self
    }

    fn toml(&self) -> String {
        let active = self.active.map_or_else(String::new, |seat| format!("active = \"{seat}\"\n"));
        let energies = if self.energies.is_empty() { "energies = []\n" } else { "" };
        format!(
            "players = {}\nyinyang = {}\n{active}{energies}plenitude = {{ purple = 1, darkblue = 4, blue = 2, \
             green = 3, yellow = 1, orange = 2, red = 3 }}\n{}{}",
            self.boards.len(),
            self.yinyang,
            self.boards.concat(),
            self.energies
        )
    }

    fn start(&self) -> Box<dyn AnyState> {
        start(&self.toml())
    }

    /// Runs a script from this table; see [`check`].
    fn check(&self, script: &str) {
        check(&mut *self.start(), script);
    }
}

/// Starts a match from the text of a setup.
fn start(toml: &str) -> Box<dyn AnyState> {
    let rules = registry::find("channel").unwrap();
    let setup = rules.read_setup(toml).unwrap_or_else(|error| panic!("{error} in\n{toml}"));
    rules.start(&setup).unwrap()
}

/// Reads a fixture by name.
fn fixture(name: &str) -> String {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../fixtures/channel");
    std::fs::read_to_string(folder.join(name).with_extension("toml")).unwrap()
}

/// Runs a script; every line must come out as it says.
///
/// - `SEAT COMMAND => OUTCOME`: the effects or `rejected CODE`
/// - `view POINTER => JSON`: a member of p1's view
/// - `ask QUESTION => TEXT` and `json QUESTION => JSON`: the two forms of an answer
fn check(state: &mut dyn AnyState, script: &str) {
    let mut wrong = Vec::new();
    for line in script.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        // A line without an outcome expects none, such as an empty answer.
        let line = line.strip_suffix(" =>").map_or_else(|| line.to_owned(), |line| format!("{line} => "));
        let (asked, expected) = line.split_once(" => ").unwrap();
        let (first, rest) = asked.split_once(' ').unwrap();
        let answer = || state.query(Seat::P1, rest);
        let found = match first {
            "view" => member(&view(state, Seat::P1), rest).to_string(),
            "ask" => answer().map_or_else(|error| error.to_string(), |answer| answer.text),
            "json" => answer().map_or_else(|error| error.to_string(), |answer| answer.json.to_string()),
            seat => told(state, seat.parse().unwrap(), rest),
        };
        if found != expected {
            wrong.push(format!("{asked}\n  expected {expected}\n  found    {found}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn view(state: &dyn AnyState, viewer: Seat) -> Value {
    serde_json::from_str(&state.view(viewer)).unwrap()
}

/// Finds a member by a path such as `players/0/rows`.
fn member<'a>(view: &'a Value, path: &str) -> &'a Value {
    view.pointer(&format!("/{path}")).unwrap_or_else(|| panic!("the view has no `{path}`"))
}

/// Folds a command and tells what became of it; a rejected one must change nothing.
fn told(state: &mut dyn AnyState, seat: Seat, command: &str) -> String {
    let before = state.state_bytes();
    let entry = Logged { seq: 1, seat, command: CommandSource::Text(command) };
    let mut told = String::new();
    let folded = state.fold(&[entry], &DicePolicy::Recorded, &mut |step| told = step.outcome().to_string());
    match folded {
        Ok(()) => {}
        Err(FoldError::Rejected { code, .. }) => told = format!("rejected {code}"),
        Err(FoldError::Malformed { .. }) => told = "rejected malformed".into(),
        Err(error) => panic!("{error}"),
    }
    if told.starts_with("rejected ") {
        assert_eq!(state.state_bytes(), before, "`{command}` is {told} and changed the state");
    }
    told
}

/// Folds a command that must be applied.
fn play(state: &mut dyn AnyState, seat: Seat, command: &str) {
    let told = told(state, seat, command);
    assert!(!told.starts_with("rejected "), "{seat} `{command}` is {told}");
}
