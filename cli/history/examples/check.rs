//! Checks golden logs with nothing but the library: `cargo run -p turnfold-history --example check -- replays`.
//!
//! It prints what `turnfold check` prints. Platforms on which the command line cannot be built fold the logs with it.

use std::env;
use std::error::Error;
use std::io::{self, Write};
use std::process::ExitCode;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let path = env::args_os().nth(1).ok_or("name a replay file or a folder of them")?;
    let report = turnfold_history::check(&turnfold_games::standard(), path)?;
    write!(io::stdout(), "{report}")?;
    Ok(if report.is_good() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}
