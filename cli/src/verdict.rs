//! Shell commands that judge a replay file, with the exit codes of `git bisect run`.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use turnfold_store::draft::DraftDir;

use std::rc::Rc;

use crate::failure::Failure;
use crate::files;
use crate::signals;
use turnfold_core::AnyState;
use turnfold_replay::error::ReplayError;
use turnfold_replay::line::LineOfPlay;
use turnfold_replay::shrink::{Condition, Given};
use turnfold_replay::tfl::Replay;

/// What is said of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It does not show what is looked for.
    False,
    /// It does.
    True,
    /// Nothing can be said of it.
    CannotTell,
}

/// A shell command that gets the path of a replay file as its argument: exit code 0 says false, 125 that it cannot
/// tell, 1 to 124 true. With 126 and 127 the shell says that there is no such command, which judges nothing.
pub(crate) struct ShellJudge<'a> {
    command: &'a str,
    dir: DraftDir,
}

impl<'a> ShellJudge<'a> {
    pub(crate) fn new(command: &'a str) -> Result<Self, Failure> {
        let no_dir = |error| Failure::trouble(format!("cannot make a temporary folder: {error}"));
        Ok(Self { command, dir: files::temporary_dir().map_err(no_dir)? })
    }

    /// Runs the command on a replay. What it prints to stderr is shown; its stdout is not.
    pub(crate) fn judge(&self, replay: &Replay) -> Result<Verdict, Failure> {
        let path = self.dir.path().join("log.tfl");
        fs::write(&path, replay.to_string())
            .map_err(|error| Failure::trouble(format!("cannot write `{}`: {error}", path.display())))?;
        self.run(&path)
    }

    fn run(&self, replay: &Path) -> Result<Verdict, Failure> {
        let command = self.command;
        let status = Command::new("sh")
            .args(["-c", &format!("{command} \"$1\""), "sh"])
            .arg(replay)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .status()
            .map_err(|error| Failure::trouble(format!("cannot run `sh`: {error}")))?;
        signals::wait_with(status);
        match status.code() {
            Some(0) => Ok(Verdict::False),
            Some(125) => Ok(Verdict::CannotTell),
            Some(1..=124) => Ok(Verdict::True),
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

/// A shell command still calls the log bad.
pub(crate) struct StillBad<'a> {
    source: &'a LineOfPlay,
    judge: ShellJudge<'a>,
}

impl<'a> StillBad<'a> {
    pub(crate) fn new(source: &'a LineOfPlay, command: &'a str) -> Result<Self, Failure> {
        Ok(Self { source, judge: ShellJudge::new(command)? })
    }
}

impl Condition for StillBad<'_> {
    fn shows(&mut self, log: &[Rc<Given>], _state: &dyn AnyState) -> Result<bool, ReplayError> {
        let commands = log.iter().map(|given| (given.seat, given.command.as_str()));
        let candidate = self.source.with_commands(commands).to_replay()?;
        Ok(self.judge.judge(&candidate)? == Verdict::True)
    }
}
