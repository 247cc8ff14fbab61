//! `turnfold store`: keeping a store and getting it back, one verb a file.

mod backup;
mod check;
mod compact;
mod heads;
#[cfg(feature = "postgres")]
mod migrate;
mod progress;
mod restore;
mod salvage;
mod stats;

use clap::Subcommand;

#[cfg(not(feature = "postgres"))]
use super::not_built as migrate;
use crate::context::Context;
use crate::failure::{ExitStatus, Failure};

/// Check, back up, restore, salvage, compact and measure a store
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: turnfold store check")]
pub(crate) struct Args {
    #[command(subcommand)]
    command: StoreCommand,
}

#[derive(Debug, Subcommand)]
enum StoreCommand {
    Check(check::Args),
    Backup(backup::Args),
    Restore(restore::Args),
    Salvage(salvage::Args),
    Compact(compact::Args),
    Migrate(migrate::Args),
    Stats(stats::Args),
    Heads(heads::Args),
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus, Failure> {
    match &args.command {
        StoreCommand::Check(args) => check::run(args, context),
        StoreCommand::Backup(args) => backup::run(args, context),
        StoreCommand::Restore(args) => restore::run(args, context),
        StoreCommand::Salvage(args) => salvage::run(args, context),
        StoreCommand::Compact(args) => compact::run(args, context),
        #[cfg(feature = "postgres")]
        StoreCommand::Migrate(args) => migrate::run(args, context),
        #[cfg(not(feature = "postgres"))]
        StoreCommand::Migrate(args) => migrate::needs_database(args),
        StoreCommand::Stats(args) => stats::run(args, context),
        StoreCommand::Heads(args) => heads::run(args, context),
    }
}
