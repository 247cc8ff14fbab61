//! Tests of `channel` that cannot be written as a script.

use std::fmt::Write as _;

use serde_json::Value;
use turnfold_core::{AnyState, Seat};

use crate::script;

mod deals;
mod properties;
mod recorded;

/// A table in short form: omitted parts are empty, tokens are fresh, and nothing is known.
#[derive(Clone, Default)]
struct Table {
    yinyang: bool,
    /// For each player, the tokens and the other TOML lines of the board.
    boards: Vec<String>,
    energies: String,
}

impl Table {
    /// Returns a table for one player, with tokens, and energies as `ID COLOR AT [ROW COL]`, separated by `, `.
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

    fn toml(&self) -> String {
        let energies = if self.energies.is_empty() { "energies = []\n" } else { "" };
        format!(
            "players = {}\nyinyang = {}\n{energies}plenitude = {{ purple = 1, darkblue = 4, blue = 2, \
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
}

/// Starts a match from the text of a setup.
fn start(toml: &str) -> Box<dyn AnyState> {
    script::start("channel", toml)
}

fn view(state: &dyn AnyState, viewer: Seat) -> Value {
    serde_json::from_str(&state.view(viewer.into())).unwrap()
}

fn outcome_of(state: &mut dyn AnyState, seat: Seat, command: &str) -> String {
    script::outcome_of(state, 1, seat, command)
}

/// Folds a command that must be applied.
fn play(state: &mut dyn AnyState, seat: Seat, command: &str) {
    let outcome = outcome_of(state, seat, command);
    assert!(!outcome.starts_with("rejected "), "{seat} `{command}` is {outcome}");
}
