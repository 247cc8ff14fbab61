//! Tests of `lifecycle` that cannot be written as a script.

use turnfold_core::AnyState;

use crate::script::{self, outcome_of};

mod limits;
mod properties;

fn start(toml: &str) -> Box<dyn AnyState> {
    script::start("lifecycle", toml)
}

/// Returns a setup of units. Each is given as `ID TEAM HP SPEED`, followed by lines of further TOML.
fn units(text: &str) -> String {
    let toml = |line: &str| match line.split(' ').collect::<Vec<_>>()[..] {
        [id, team, hp, speed] if !line.contains('=') => {
            format!("[[units]]\nid = \"{id}\"\nteam = \"{team}\"\nhp = {hp}\nspeed = {speed}")
        }
        _ => line.to_owned(),
    };
    text.lines().map(str::trim).map(toml).collect::<Vec<_>>().join("\n")
}
