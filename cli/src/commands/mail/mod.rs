//! `turnfold mail`: matches that are played by mail, one verb a file.

mod desk;
mod open;
mod post;
mod run;
mod status;
mod take;
mod write;

use clap::Subcommand;

use crate::context::Context;
use crate::failure::{ExitStatus, Failure};

pub(crate) use desk::desk_going_along;

/// Host and play matches by mail: papers, deadlines and letters
///
/// A match by mail consists of a game and its desk, a match NAME.desk with the players' signed papers, the host's clock and
/// all decisions. turnfold sends and receives no mail: the host saves mails as files, `mail take` records their papers, `mail
/// run` executes a turn that is ready, and letters to the players wait in the outbox. A player saves the bundle attached to
/// a letter, and `mail write` makes a paper from it to send back.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: turnfold mail run duel --key ann.key")]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Open(open::Args),
    Take(take::Args),
    Run(run::Args),
    Status(status::Args),
    Write(write::Args),
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus, Failure> {
    match &args.command {
        Command::Open(args) => open::run(args, context),
        Command::Take(args) => take::run(args, context),
        Command::Run(args) => run::run(args, context),
        Command::Status(args) => status::run(args, context),
        Command::Write(args) => write::run(args, context),
    }
}
