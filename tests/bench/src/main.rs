//! The `turnfold` binary, built where the benchmarks can find its path.

use std::process::ExitCode;

fn main() -> ExitCode {
    turnfold::main()
}
