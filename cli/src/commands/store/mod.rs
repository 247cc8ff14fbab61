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

#[cfg(feature = "postgres")]
use self::migrate::run as run_migrate;
#[cfg(not(feature = "postgres"))]
use super::not_built::{self as migrate, needs_database as run_migrate};
use crate::context::Context;
use crate::failure::{ExitStatus, Failure};

/// Check, back up, restore, salvage, compact and measure a store
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: turnfold store check")]
pub(crate) struct Args {
    #[command(subcommand)]
    command: StoreCommand,
}

verbs! {
    StoreCommand {
        Check(check::Args) => check::run,
        Backup(backup::Args) => backup::run,
        Restore(restore::Args) => restore::run,
        Salvage(salvage::Args) => salvage::run,
        Compact(compact::Args) => compact::run,
        Migrate(migrate::Args) => run_migrate,
        Stats(stats::Args) => stats::run,
        Heads(heads::Args) => heads::run,
    }
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus, Failure> {
    args.command.run(context)
}
