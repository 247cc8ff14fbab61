//! Tests of `cycletap` that cannot be written as a script.

use turnfold_core::{AnyState, Seat};

use crate::script;

mod binary;
mod properties;
mod random;

/// Returns a setup. Each unit is `OWNER KIND Q,R` or `OWNER KIND Q,R STRENGTH`, separated by `; `.
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
    script::start("cycletap", toml)
}

/// Plays commands that must all be applied. A tap may be written as its hex alone.
fn play(state: &mut dyn AnyState, seat: Seat, commands: &str) {
    for word in commands.split(' ') {
        let command = if word.contains(',') { format!("tap {word}") } else { word.to_owned() };
        let outcome = outcome_of(state, seat, &command);
        assert!(
            !outcome.starts_with("ignored ") && !outcome.starts_with("rejected "),
            "{seat} {command}: {outcome}"
        );
    }
}

fn outcome_of(state: &mut dyn AnyState, seat: Seat, command: &str) -> String {
    script::outcome_of(state, 1, seat, command)
}
