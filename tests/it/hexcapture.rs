//! Proofs of `hexcapture` that no script can write.

use turnfold_core::AnyState;

use crate::script;

mod command_line;
mod extremes;
mod random_play;
mod vectors;

fn start(toml: &str) -> Box<dyn AnyState> {
    script::start("hexcapture", toml)
}
