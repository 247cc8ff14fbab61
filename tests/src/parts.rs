//! What a test needs and a machine may lack: programs, packages and permissions.

use std::env;
use std::ffi::OsStr;
use std::fmt::Display;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::Command;

use crate::sandbox::binary;

/// Prints that a test, or a part of it, does not run, and why. It bypasses the capture of output, because whoever runs
/// the tests must see it. `.ci/skipped` lists the accepted reasons.
pub fn skipped(what: impl Display, why: impl Display) {
    io::stderr().write_all(format!("SKIPPED: {what}: {why}\n").as_bytes()).unwrap();
}

/// Returns `true` if a program is installed and can report its version.
pub fn has(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success())
}

/// Returns `true` if a program is installed, and otherwise prints what is skipped.
pub fn has_or_skips(program: &str, what: &str) -> bool {
    let has = has(program);
    if !has {
        skipped(what, format_args!("`{program}` is not here"));
    }
    has
}

/// Returns `true` if strace may trace here, and otherwise prints what is skipped.
pub fn can_trace_or_skips(what: &str) -> bool {
    let traced = Command::new("strace").args(["-o", "/dev/null", "true"]).output();
    let can_trace = traced.is_ok_and(|output| output.status.success());
    if !can_trace {
        skipped(what, "`strace` is not here or may not trace");
    }
    can_trace
}

/// Returns the folder of programs of a package from `PyPI`, such as `chess==1.11.2`. The package is installed once for
/// all tests, in its own environment next to the program under test. If the variable names a folder, nothing is
/// installed.
///
/// # Errors
/// The reason why it cannot be installed.
pub fn python(package: &str, variable: &str) -> Result<PathBuf, String> {
    if let Some(there) = env::var_os(variable) {
        return Ok(there.into());
    }
    let environments = binary().parent().unwrap().join("environments");
    let folder = environments.join(package);
    let bin = folder.join("bin");
    let whole = folder.join("whole");
    fs::create_dir_all(&environments).unwrap();
    // Other tests wait until the package is installed. Closing the file releases the lock.
    let lock = File::create(environments.join(format!("{package}.lock"))).unwrap();
    lock.lock().unwrap();
    if whole.exists() {
        return Ok(bin);
    }
    run("python3".as_ref(), &["-m", "venv", "--clear", folder.to_str().unwrap()])?;
    let pip = bin.join("pip");
    run(pip.as_os_str(), &["install", "--quiet", "--disable-pip-version-check", package])?;
    fs::write(whole, "").unwrap();
    Ok(bin)
}

/// Runs a program, or returns the last line of its error output.
fn run(program: &OsStr, args: &[&str]) -> Result<(), String> {
    let output = Command::new(program).args(args).output();
    let output = output.map_err(|error| format!("{}: {error}", program.display()))?;
    if output.status.success() {
        return Ok(());
    }
    let stderr = String::from_utf8_lossy(&output.stderr);
    Err(format!("{} {args:?}: {}", program.display(), stderr.lines().last().unwrap_or_default()))
}
