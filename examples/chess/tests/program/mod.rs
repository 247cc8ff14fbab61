//! The program itself, in a shell.

use std::path::Path;
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// The program in a folder of its own.
pub struct Program(TempDir);

impl Program {
    pub fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Runs a line in a shell, in which `chess` is the program; returns its exit code and what it printed.
    pub fn run(&self, line: &str) -> (Option<i32>, String) {
        let script = format!("chess() {{ '{}' \"$@\"; }}\n{line}", env!("CARGO_BIN_EXE_chess"));
        let mut shell = Command::new("sh");
        shell
            .args(["-c", &script])
            .current_dir(self.path())
            .stdin(Stdio::null())
            .env_remove("TURNFOLD_STORE");
        let output = shell.output().unwrap();
        let text = [output.stdout, output.stderr].concat();
        (output.status.code(), String::from_utf8(text).unwrap())
    }

    /// Requires an exit code and a text in what is printed.
    #[track_caller]
    pub fn check(&self, code: i32, line: &str, expected: &str) {
        let (found, text) = self.run(line);
        assert!(found == Some(code) && text.contains(expected), "{line}: exit code {found:?}\n{text}");
    }
}
