//! The ruling of `lifecycle`, rule by rule, through the public API.

use turnfold_core::AnyState;

use crate::script::{self, told};

mod actions;
mod limits;
mod properties;
mod race;
mod rejections;
mod setups;
mod upkeep;
mod views;

fn start(toml: &str) -> Box<dyn AnyState> {
    script::start("lifecycle", toml)
}

fn check(toml: &str, script: &str) {
    script::check("lifecycle", toml, script);
}

/// Writes a setup of units, each given as `ID TEAM HP SPEED` and, on the lines below it, further TOML.
fn units(text: &str) -> String {
    let is_unit = |line: &str| line.split(' ').count() == 4 && !line.contains('=');
    let mut toml = String::new();
    for line in text.lines().map(str::trim) {
        if is_unit(line) {
            let words: Vec<&str> = line.split(' ').collect();
            let [id, team, hp, speed] = words[..] else { unreachable!("four words were counted") };
            toml += &format!("[[units]]\nid = \"{id}\"\nteam = \"{team}\"\nhp = {hp}\nspeed = {speed}\n");
        } else {
            toml += &format!("{line}\n");
        }
    }
    toml
}
