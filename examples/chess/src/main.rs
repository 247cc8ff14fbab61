//! Chess with the whole command line of turnfold: `cargo run -- new table --rules chess --setup start.toml`.

use turnfold_core::prelude::erase;

fn main() -> std::process::ExitCode {
    turnfold::run(std::env::args_os(), turnfold::standard().with(erase::<chess::Chess>()))
}
