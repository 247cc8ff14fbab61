//! The `turnfold` binary, in a package that gives benchmarks its path.

use std::process::ExitCode;

fn main() -> ExitCode {
    turnfold::main()
}
