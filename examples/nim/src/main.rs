//! Nim with the whole command line of turnfold: `cargo run -- new table --rules nim --setup heaps.toml`.

use turnfold_core::any::erase;

fn main() -> std::process::ExitCode {
    turnfold::run(std::env::args_os(), turnfold::standard().with(erase::<nim::Nim>()))
}
