//! Proofs of `lifecycle` that no script can write.

use turnfold_core::AnyState;

use crate::script::{self, outcome_of};

mod limits;
mod properties;

fn start(toml: &str) -> Box<dyn AnyState> {
    script::start("lifecycle", toml)
}

/// Writes a setup of units, each given as `ID TEAM HP SPEED` and, on the lines below it, further TOML.
fn units(text: &str) -> String {
    let toml = |line: &str| match line.split(' ').collect::<Vec<_>>()[..] {
        [id, team, hp, speed] if !line.contains('=') => {
            format!("[[units]]\nid = \"{id}\"\nteam = \"{team}\"\nhp = {hp}\nspeed = {speed}")
        }
        _ => line.to_owned(),
    };
    text.lines().map(str::trim).map(toml).collect::<Vec<_>>().join("\n")
}
