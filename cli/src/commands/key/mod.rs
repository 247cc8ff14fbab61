//! `turnfold key`: keys that sign checkpoints, one verb a file.

mod new;
mod show;

use clap::Subcommand;

use crate::context::Context;
use crate::failure::{ExitStatus, Failure};

/// Make signing keys and print their verifier keys
///
/// A key file holds a private key in one line. It is not encrypted: keep it on an encrypted disk, or wrap it with `age -p`. The
/// folder next to it records what the key has signed, so that it never signs two histories; a copy of the key without that
/// folder could.
///
/// No backup of a store contains a key. If you lose a key, make another, under another name or in another file, and publish
/// it where the old one was. A thief can sign with a key, but cannot make two histories consistent.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: turnfold key new ann.key --name games.example/ann")]
pub(crate) struct Args {
    #[command(subcommand)]
    command: KeyCommand,
}

#[derive(Debug, Subcommand)]
enum KeyCommand {
    New(new::Args),
    Show(show::Args),
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus, Failure> {
    match &args.command {
        KeyCommand::New(args) => new::run(args, context),
        KeyCommand::Show(args) => show::run(args, context),
    }
}
