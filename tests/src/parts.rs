//! Parts that a test needs and a machine may lack: programs, packages, rights.

use std::fmt::Display;
use std::io::{self, Write as _};
use std::process::Command;

/// Prints that a test, or a part of one, does not run, and why. It gets past the capture of output, because who runs the
/// tests has to know. `.ci/skipped` lists which reasons are good ones.
pub fn skipped(what: impl Display, why: impl Display) {
    io::stderr().write_all(format!("SKIPPED: {what}: {why}\n").as_bytes()).unwrap();
}

/// Returns `true` if a program is here and can be asked for its version.
pub fn has(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success())
}

/// Returns `true` if a program is here, or prints that something is skipped without it.
pub fn has_or_skips(program: &str, what: &str) -> bool {
    let has = has(program);
    if !has {
        skipped(what, format_args!("`{program}` is not here"));
    }
    has
}

/// Returns `true` if strace may trace here, or prints that something is skipped without it.
pub fn can_trace_or_skips(what: &str) -> bool {
    let traced = Command::new("strace").args(["-o", "/dev/null", "true"]).output();
    let can_trace = traced.is_ok_and(|output| output.status.success());
    if !can_trace {
        skipped(what, "`strace` is not here or may not trace");
    }
    can_trace
}
