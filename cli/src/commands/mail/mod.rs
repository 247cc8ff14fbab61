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
/// A match by mail is a game and, beside it, its desk: a match NAME.desk that holds the players' signed papers, the host's
/// clock and what was decided. turnfold sends and fetches no mail: the host saves mails as files, `mail take` records
/// their papers, `mail run` carries out a turn that is ready, and the letters to the players wait in the outbox. A player
/// saves the bundle that came with a letter, and `mail write` makes a paper of it to send back.
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
