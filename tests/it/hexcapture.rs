//! The ruling of `hexcapture`, rule by rule, through the public API.

use turnfold_core::AnyState;

use crate::script;

mod action;
mod command_line;
mod cursor;
mod inventory;
mod random_play;
mod rejections;
mod release;
mod setups;
mod ticks;
mod vectors;
mod views;

/// An orange and a brown hex beside the turtle, which stands under the cursor; the default timing.
const TWO_HEXES: &str = "cells = [{ at = [1, 0], color = 0 }, { at = [0, 1], color = 2 }]";

fn start(toml: &str) -> Box<dyn AnyState> {
    script::start("hexcapture", toml)
}

fn fixture(name: &str) -> String {
    script::fixture("hexcapture", name)
}

fn check(toml: &str, script: &str) {
    script::check("hexcapture", toml, script);
}
