//! The `turnfold` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    turnfold::main()
}
