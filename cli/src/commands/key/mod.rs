//! `turnfold key`: keys that sign checkpoints, one verb a file.

mod new;
mod show;

use clap::Subcommand;

use crate::context::Context;
use crate::failure::{ExitStatus, Failure};

/// Make keys that sign, and print what others check them with
///
/// A key file holds a private key in one line. It is not encrypted: keep it on a disk that is, or wrap it with `age -p`.
/// Beside it lies what it has signed, so that it never signs two histories: a copy of a key without that folder could.
/// No backup of a store has a key. Whoever loses one makes another, under another name or beside it, and publishes it
/// where the old one was; whoever steals one can sign, and cannot make two histories agree.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: turnfold key new ann.key --name games.example/ann")]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    New(new::Args),
    Show(show::Args),
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus, Failure> {
    match &args.command {
        Command::New(args) => new::run(args, context),
        Command::Show(args) => show::run(args, context),
    }
}
