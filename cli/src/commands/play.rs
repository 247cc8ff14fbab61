//! `turnfold play`: appends commands to a match and prints their outcomes.

use std::path::PathBuf;

use clap::ValueEnum;
use turnfold_history::session::ScriptCommands;
use turnfold_history::{Record, Revision, Viewer};
use turnfold_store::IdempotencyKey;

use crate::context::Context;
use crate::failure::{ExitStatus, Result};
use crate::{files, program};

const SAFETY: &str = "Options for scripts and shared matches";

const DICE: &str = "Dice options";

/// Append commands to a match and print their outcomes
///
/// Records all commands of a call or, if one is rejected, none of them. In a seeded match, due rolls are made at once, also
/// before the first command; without a command, only they are made. With `--dry-run` nothing is recorded. `play` refuses a history that is played by mail: only
/// `mail take` and `mail run` append to it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: turnfold play duel 'p1: click 0,2' 'p1: move 0,1'")]
pub(crate) struct Args {
    /// The history, MATCH[@BRANCH]
    #[arg(value_name = "REV")]
    pub(crate) revision: Revision,

    /// Commands, each `[SEAT:] command`, such as `p1: move 2,3`
    #[arg(value_name = "COMMAND", conflicts_with = "script")]
    pub(crate) commands: Vec<String>,

    /// Give all commands as this seat, and print only what it may know [default: the seat of each command]
    #[arg(long = "seat", value_name = "SEAT")]
    pub(crate) viewer: Option<Viewer>,

    /// Read the commands from a file, one a line; `-` is standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) script: Option<PathBuf>,

    /// Judge the commands and print their outcomes, but append nothing
    #[arg(long, conflicts_with = "key")]
    pub(crate) dry_run: bool,

    /// Append only if the last entry is number N
    #[arg(long, help_heading = SAFETY, value_name = "N")]
    pub(crate) expect: Option<u64>,

    /// Idempotency key: a repeated call with this key appends nothing and prints the result of the first
    #[arg(long = "once", help_heading = SAFETY, value_name = "KEY")]
    pub(crate) key: Option<IdempotencyKey>,

    /// Do not make due rolls
    #[arg(long, help_heading = DICE)]
    pub(crate) no_auto_roll: bool,

    /// Make due rolls of a match with recorded dice, by the operating system
    #[arg(long, help_heading = DICE, value_enum, value_name = "SOURCE")]
    pub(crate) dice: Option<DiceSource>,
}

impl Args {
    /// Returns a command line with quotes, if the words of a malformed command were probably given without them.
    pub(crate) fn whole_command(&self, record: &Record, index: usize) -> Option<String> {
        let words = self.commands.get(index..).filter(|words| words.len() > 1)?;
        let are_words = words.iter().all(|word| !word.contains(' '));
        if !are_words || record.outcome.code() != Some("malformed") {
            return None;
        }
        Some(format!("{} play {} \"{}\"", program::name(), self.revision, words.join(" ")))
    }

    /// Returns the place in the script of the command with this index.
    pub(crate) fn place_of(&self, index: usize, commands: ScriptCommands) -> Option<String> {
        let given = commands.iter().nth(index)?;
        files::place_in_script(&given, self.script.as_ref())
    }

    pub(crate) fn viewer(&self) -> Viewer {
        self.viewer.unwrap_or(Viewer::HOST)
    }
}

/// Dice from outside a recorded match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DiceSource {
    /// The operating system's randomness
    System,
}

/// Prints the outcomes of the commands. The outcome of a rejected command is printed before the failure is returned.
pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus> {
    let Context { workspace, output, .. } = context;
    let played = workspace.matches()?.play(args, output);
    output.flush()?;
    played?;
    Ok(ExitStatus::Yes)
}
