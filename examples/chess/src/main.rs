//! Chess with the whole command line of turnfold: `cargo run -- new table --rules chess --setup start.toml`.

use std::process::ExitCode;

use turnfold_core::Registry;
use turnfold_core::any::erase;

fn main() -> ExitCode {
    turnfold::run(std::env::args_os(), Registry::standard().with(erase::<chess::Chess>()))
}
