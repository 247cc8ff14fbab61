//! Tests of `hexcapture` that cannot be written as a script.

use turnfold_core::AnyState;

use crate::script;

mod command_line;
mod extremes;
mod random_play;
mod vectors;

fn start(toml: &str) -> Box<dyn AnyState> {
    script::start("hexcapture", toml)
}
