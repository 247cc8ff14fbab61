//! `turnfold store restore`: a store from a backup.

use std::ffi::OsString;
use std::fmt;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use clap::builder::{OsStringValueParser, TypedValueParser};
use turnfold_replay::input;
use turnfold_store::{FleetAddress, RescueError, Store, Totals};

use super::progress::Progress;
use super::totals::told;

use crate::context::Context;
use crate::failure::{ExitStatus, Failure};
use crate::files::is_standard;
use crate::output::{Tone, paint};
use crate::remote::store_address::read_fleet;
use crate::signals;

/// Make a store from a backup
///
/// Every check and every link is verified on the way. The new store is there whole or not at all; the
/// directory `.turnfold-draft-…` that a killed restore leaves beside it is removed by the next verb that makes one there.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: turnfold store restore matches.tfb restored")]
pub(crate) struct Args {
    /// The backup; `-` is standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Where to make the store; a directory that does not exist or is empty, or the URL of a database
    #[arg(value_name = "DIR", value_parser = OsStringValueParser::new().try_map(Target::read))]
    to: Target,
}

/// Where the store is to be.
#[derive(Clone, Debug)]
enum Target {
    Dir(PathBuf),
    Fleet(Box<FleetAddress>),
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus, Failure> {
    signals::remove_drafts();
    let progress = Progress::new("restoring");
    let filled = if is_standard(&args.file) {
        args.to.fill(io::stdin().lock(), &progress)
    } else {
        args.to.fill(BufReader::new(input::open(&args.file, "backup")?), &progress)
    };
    drop(progress);
    let totals = filled.map_err(|error| match error {
        RescueError::NotABackup => not_a_backup(&args.file),
        error => error.into(),
    })?;
    if context.output.is_json() {
        context.output.json(&serde_json::json!({
            "store": args.to.to_string(),
            "matches": totals.matches,
            "branches": totals.branches,
            "entries": totals.entries,
        }))?;
        return Ok(ExitStatus::Yes);
    }
    let dir = paint(Tone::Strong, args.to.to_string());
    context.output.line(format_args!("restored store {dir}: {}", told(totals)))?;
    Ok(ExitStatus::Yes)
}

/// Says which file is none; the library reads it without knowing its name.
fn not_a_backup(file: &Path) -> Failure {
    let name = if is_standard(file) { "standard input".into() } else { format!("`{}`", file.display()) };
    Failure::usage(format!("{name} is not a turnfold backup: unrecognized header"))
        .hint("name a file that `store backup` wrote")
}

impl Target {
    fn read(value: OsString) -> Result<Self, String> {
        match value.to_str() {
            Some(text) if FleetAddress::is_meant(text) => {
                read_fleet(text).map(|address| Self::Fleet(Box::new(address)))
            }
            _ => Ok(Self::Dir(value.into())),
        }
    }

    fn fill(&self, reader: impl Read, progress: &Progress) -> Result<Totals, RescueError> {
        match self {
            Self::Fleet(address) => Store::restore_fleet(reader, address, &mut progress.observer()),
            Self::Dir(dir) => Store::restore(reader, dir, &mut progress.observer()),
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fleet(address) => address.fmt(out),
            Self::Dir(dir) => dir.display().fmt(out),
        }
    }
}
