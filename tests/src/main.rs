//! The `turnfold` binary, built so that these tests can find its path. Its clock can be a file, so that weeks pass in
//! seconds.

use std::process::ExitCode;
use std::{env, fs};

/// The variable that names the file with the time, in milliseconds since 1970.
const CLOCK: &str = "TURNFOLD_TEST_CLOCK";

fn main() -> ExitCode {
    if env::var_os(CLOCK).is_some() {
        turnfold::set_clock(|| {
            let path = env::var_os(CLOCK).unwrap_or_default();
            let time = fs::read_to_string(path).unwrap_or_default();
            time.trim().parse().unwrap_or_else(|error| panic!("{time:?} is no time: {error}"))
        });
    }
    turnfold::main()
}
