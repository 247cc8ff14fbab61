//! The ruling of `initiative`, rule by rule, through the public API.

use turnfold_core::AnyState;

use crate::script::{self, told};

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

fn start(toml: &str) -> Box<dyn AnyState> {
    script::start("initiative", toml)
}

fn fixture(name: &str) -> String {
    script::fixture("initiative", name)
}

fn check(toml: &str, script: &str) {
    script::check("initiative", toml, script);
}
