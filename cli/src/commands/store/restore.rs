//! `turnfold store restore` and `salvage`: make a store from a backup, or from a damaged store.

use std::ffi::OsString;
use std::io::{self, BufReader, Read};
use std::path::PathBuf;

use clap::builder::{OsStringValueParser, TypedValueParser};
use serde_json::json;
use turnfold_core::registry::ModuleSource as _;
use turnfold_history::{ReplayError, input};
use turnfold_proof::bundle::NeededModule;
use turnfold_store::{RescueError, Salvage, Store, StoreReader, Totals};

use super::{in_words, place, progress};
use crate::context::{Context, StoreAddress, is_database};
use crate::failure::{ExitStatus, Failure, Result};
use crate::files::is_standard;
use crate::output::{Line, plain, removed, strong};
use crate::signals;

/// Make a store from a backup
///
/// Verifies every checksum and every link. The new store appears whole or not at all. If a restore is killed, it leaves a
/// directory `.turnfold-draft-…`, which the next restore in the same place removes. Lists the modules that matches need and
/// that are missing at the new place, because backups hold none.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: turnfold store restore matches.tfb restored")]
pub(crate) struct Args {
    /// The backup; `-` is standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Where to make the store; a directory that does not exist or is empty, or the URL of a database
    #[arg(value_name = "DIR", value_parser = OsStringValueParser::new().try_map(read_target))]
    pub(crate) to: StoreAddress,
}

pub(super) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus> {
    signals::remove_drafts();
    let restored = if is_standard(&args.file) {
        restore(&args.to, io::stdin().lock())
    } else {
        restore(&args.to, BufReader::new(input::open(&args.file, "backup")?))
    };
    let (totals, reader) = match restored {
        Ok(restored) => restored,
        // The library does not know the name of the file.
        Err(RescueError::NotABackup) => {
            let name = if is_standard(&args.file) {
                "standard input".into()
            } else {
                format!("`{}`", args.file.display())
            };
            return Err(Failure::usage(format!("{name} is not a turnfold backup: unrecognized header"))
                .hint("name a file that `store backup` wrote"));
        }
        Err(error) => return Err(error.into()),
    };
    // Backups hold no modules, so those that the matches need may be missing at the new place (MD-10).
    let mut missing = Vec::new();
    for module in NeededModule::of_all(&reader)? {
        if context.modules.by_digest(&module.module).is_none() {
            tracing::warn!(
                "missing, needed by restored matches: module {module}; {}",
                ReplayError::PUT_MODULE
            );
            missing.push(module);
        }
    }
    let Totals { matches, branches, entries } = totals;
    let store = match &args.to {
        #[cfg(feature = "postgres")]
        StoreAddress::Fleet(address) => address.to_string(),
        to => to.shown(),
    };
    let document = json!({
        "store": store, "matches": matches, "branches": branches, "entries": entries, "missing_modules": missing,
    });
    context.output.answer(&document, || {
        let totals = plain(format_args!(": {}", in_words(totals)));
        vec![Line::from([plain("restored store "), strong(&store), totals])]
    })
}

fn read_target(value: OsString) -> Result<StoreAddress, String> {
    if value.to_str().is_some_and(is_database) {
        return StoreAddress::read(value);
    }
    // Every other text is a directory, because no service can be restored.
    Ok(StoreAddress::Dir(value.into()))
}

fn restore(to: &StoreAddress, backup: impl Read) -> Result<(Totals, StoreReader), RescueError> {
    let progress = &mut progress("restoring");
    match to {
        #[cfg(feature = "postgres")]
        StoreAddress::Fleet(address) => {
            Ok((Store::restore_fleet(backup, address, progress)?, StoreReader::open_fleet(address)?))
        }
        StoreAddress::Dir(dir) => Ok((Store::restore(backup, dir, progress)?, StoreReader::open(dir)?)),
        StoreAddress::Service(_) => unreachable!("`read_target` reads none"),
    }
}

/// Save what is readable of a damaged store to a new one
///
/// Changes nothing in the damaged store. Saves every sound commit, except what follows a gap in its own branch; a sound
/// index fills gaps. Lists what could not be saved, and every damaged file. Exits with 0 if everything is sound and saved,
/// with 1 if something is lost or damaged, with 3 if nothing can be read.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: turnfold store salvage .turnfold rescued")]
pub(crate) struct SalvageArgs {
    /// The damaged store
    #[arg(value_name = "DIR")]
    dir: PathBuf,

    /// Where to make the new store; a directory that does not exist or is empty
    #[arg(value_name = "NEWDIR")]
    new_dir: PathBuf,
}

pub(super) fn salvage(args: &SalvageArgs, context: &mut Context) -> Result<ExitStatus> {
    let names_database = [&args.dir, &args.new_dir].iter().any(|dir| dir.to_str().is_some_and(is_database));
    if names_database || context.fleet().is_some() {
        return Err(
            Failure::usage("the database server does that").hint("its archive or a backup has what is lost")
        );
    }
    signals::remove_drafts();
    let Salvage { saved, lost } = Store::salvage(&args.dir, &args.new_dir, &mut progress("salvaging"))?;
    let Totals { matches, branches, entries } = saved;
    let store = args.new_dir.display().to_string();
    let is_all = lost.is_empty();
    let salvaged = json!({
        "store": store, "matches": matches, "branches": branches, "entries": entries, "lost": lost,
    });
    context.output.verdict(is_all, &salvaged, || {
        let mut lines = Vec::new();
        for lost in &lost {
            let entries = match (lost.from, lost.to) {
                (Some(from), Some(to)) if from == to => format!(" entry {from}"),
                (Some(from), Some(to)) => format!(" entries {from} to {to}"),
                (Some(from), None) => format!(" entries from {from} on"),
                (None, Some(to)) => format!(" entries up to {to}"),
                (None, None) => String::new(),
            };
            let mut at = String::new();
            // A loss of the store as a whole has no place.
            if let Some(match_name) = &lost.match_name {
                at = format!(" {}{entries}", place(match_name.as_str(), lost.branch.as_ref(), None));
            }
            lines.push(Line::from([removed("lost"), plain(format_args!("{at}: {}", lost.reason))]));
        }
        let heading = plain(if is_all { "saved everything in store " } else { "saved in store " });
        let totals = plain(format_args!(": {}", in_words(saved)));
        lines.push(Line::from([heading, strong(&store), totals]));
        lines
    })
}
