//! The `turnfold` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    turnfold_cli::main()
}
