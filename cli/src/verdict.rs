//! Shell commands that judge a replay file, by the exit codes of `git bisect run`.

use std::fs;
use std::process::{Command, Stdio};

use turnfold_history::search::Judgment;
use turnfold_history::tfl::Replay;
use turnfold_store::draft::DraftDir;

use crate::failure::Failure;
use crate::files;
use crate::signals;

/// A shell command that gets the path of a replay file as its argument. Exit code 0 means false, 1 to 124 true, and 125
/// undecided. With 126 and 127, the shell reports that the command cannot be run, which is an error.
pub(crate) struct ShellJudge<'a> {
    command: &'a str,
    dir: DraftDir,
}

impl<'a> ShellJudge<'a> {
    pub(crate) fn new(command: &'a str) -> Result<Self, Failure> {
        match files::temporary_dir() {
            Ok(dir) => Ok(Self { command, dir }),
            Err(error) => Err(Failure::trouble(format!("cannot make a temporary folder: {error}"))),
        }
    }

    /// Runs the command on a replay. Its stderr is shown, its stdout is not.
    pub(crate) fn judge(&self, replay: &Replay) -> Result<Judgment, Failure> {
        let path = self.dir.path().join("log.tfl");
        fs::write(&path, replay.to_string()).map_err(|error| files::unwritable(&path, &error))?;
        self.judge_again()
    }

    pub(crate) fn judge_again(&self) -> Result<Judgment, Failure> {
        let command = self.command;
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("{command} \"$1\""), "sh"]).arg(self.dir.path().join("log.tfl"));
        let status = shell.stdin(Stdio::null()).stdout(Stdio::null()).status();
        let status = status.map_err(|error| Failure::trouble(format!("cannot run `sh`: {error}")))?;
        signals::wait_with(status);
        match status.code() {
            Some(0) => Ok(Judgment::No),
            Some(125) => Ok(Judgment::CannotTell),
            Some(1..=124) => Ok(Judgment::Yes),
            Some(code @ (126 | 127)) => {
                let message =
                    format!("`{command}` cannot be run, or runs what cannot: its exit code is {code}");
                Err(Failure::usage(message).hint("name a command that the shell finds and may execute"))
            }
            _ => Err(Failure::trouble(format!("`{command}` ended with {status}"))
                .hint("0, 125 or 1 to 124 was expected")),
        }
    }
}
