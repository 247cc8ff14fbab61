//! `turnfold store`: checks, backs up and restores a store. Each verb has a file.

mod backup;
mod check;
mod compact;
mod doctor;
mod heads;
mod progress;
mod restore;
mod salvage;
mod size;
mod spread;
mod upgrade;

use crate::address::StoreAddress;
use crate::context::Context;
use crate::failure::{ExitStatus, Failure};

/// Check, back up, restore, salvage, compact and measure a store
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: turnfold store check")]
pub(crate) struct Args {
    #[command(subcommand)]
    command: StoreCommand,
}

impl Args {
    pub(super) fn restored(&self) -> Option<StoreAddress> {
        if let StoreCommand::Restore(args) = &self.command { Some(args.address()) } else { None }
    }
}

verbs! {
    StoreCommand {
        Check(check::Args) => check::run,
        Backup(backup::Args) => backup::run,
        Restore(restore::Args) => restore::run,
        Salvage(salvage::Args) => salvage::run,
        Compact(compact::Args) => compact::run,
        Upgrade(upgrade::Args) => upgrade::run,
        Spread(spread::Args) => spread::run,
        Size(size::Args) => size::run,
        Heads(heads::Args) => heads::run,
        Doctor(doctor::Args) => doctor::run,
    }
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus, Failure> {
    args.command.run(context)
}
