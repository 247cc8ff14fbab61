//! The real binary, started for each measurement.

use std::path::Path;
use std::process::{Command, Stdio};
use std::str;

/// The binary under test, run in a folder.
pub(crate) struct Turnfold<'a> {
    pub(crate) dir: &'a Path,
}

impl Turnfold<'_> {
    /// Returns a command that depends only on the folder, not on the machine's environment.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_turnfold-under-bench"));
        command.args(args).current_dir(self.dir).env_clear().stdin(Stdio::null());
        command
    }

    /// Runs the binary, requires it to succeed, and returns its output.
    pub(crate) fn ok(&self, args: &[&str]) -> String {
        let output = self.command(args).output().expect("the binary starts");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "turnfold {args:?}: {errors}");
        str::from_utf8(&output.stdout).expect("the answer is text").to_owned()
    }
}
