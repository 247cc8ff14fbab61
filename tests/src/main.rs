//! The `turnfold` binary, built where these tests can find its path.

use std::process::ExitCode;

fn main() -> ExitCode {
    turnfold::main()
}
