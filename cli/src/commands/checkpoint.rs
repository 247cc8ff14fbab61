//! `turnfold checkpoint`: signed statements of which entries a branch has (TR-11 to TR-16). Each verb has a file.

mod cosign;
mod prove;
mod sign;

use crate::context::Context;
use crate::failure::{ExitStatus, Failure};

/// Sign which entries a branch has, prove one, cosign as a witness
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: turnfold checkpoint sign duel --key ann.key -o duel.checkpoint")]
pub(crate) struct Args {
    #[command(subcommand)]
    command: CheckpointCommand,
}

impl Args {
    /// Returns `true` for the verb of a witness, who takes referees from the command line only (RF-3).
    pub(super) fn is_of_witness(&self) -> bool {
        matches!(self.command, CheckpointCommand::Cosign(_))
    }
}

verbs! {
    CheckpointCommand {
        Sign(sign::Args) => sign::run,
        Prove(prove::Args) => prove::run,
        Cosign(cosign::Args) => cosign::run,
    }
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus, Failure> {
    args.command.run(context)
}
