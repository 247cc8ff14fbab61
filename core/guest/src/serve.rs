//! A referee: requests on standard input, answers on standard output (RF-5).

extern crate std;

use alloc::vec::Vec;
use std::io::{self, BufRead as _, Write as _};

use turnfold_core::Rules;

use crate::answer::answer;

/// Serves a ruleset over standard input and output, until the input ends.
///
/// # Errors
/// The error of reading or writing a line.
pub fn serve<R: Rules>() -> io::Result<()> {
    let mut input = io::stdin().lock();
    let mut output = io::stdout().lock();
    let mut line = Vec::new();
    while input.read_until(b'\n', &mut line)? > 0 {
        let mut reply = answer::<R>(&line);
        reply.push('\n');
        output.write_all(reply.as_bytes())?;
        output.flush()?;
        line.clear();
    }
    Ok(())
}
