//! `turnfold store restore`: a store from a backup.

use std::ffi::OsString;
use std::fmt;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use clap::builder::{OsStringValueParser, TypedValueParser};
use serde_json::json;
use turnfold_replay::error::input;
use turnfold_store::{RescueError, Store, Totals};

use super::progress::{in_words, progress};
use crate::address::is_database;
#[cfg(not(feature = "postgres"))]
use crate::address::left_out;
#[cfg(feature = "postgres")]
use crate::address::{FleetAddress, read_fleet};
use crate::context::Context;
use crate::failure::{ExitStatus, Failure};
use crate::files::is_standard;
use crate::output::{Line, plain, strong};
use crate::signals;

/// Make a store from a backup
///
/// Verifies every checksum and every link. The new store appears whole or not at all. If a restore is killed, it leaves a
/// directory `.turnfold-draft-…`, which the next restore in the same place removes.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: turnfold store restore matches.tfb restored")]
pub(crate) struct Args {
    /// The backup; `-` is standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Where to make the store; a directory that does not exist or is empty, or the URL of a database
    #[arg(value_name = "DIR", value_parser = OsStringValueParser::new().try_map(RestoreTarget::read))]
    to: RestoreTarget,
}

/// Where the store is to be.
#[derive(Clone, Debug)]
enum RestoreTarget {
    Dir(PathBuf),
    #[cfg(feature = "postgres")]
    Fleet(Box<FleetAddress>),
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus, Failure> {
    signals::remove_drafts();
    let filled = if is_standard(&args.file) {
        args.to.fill(io::stdin().lock())
    } else {
        args.to.fill(BufReader::new(input::open(&args.file, "backup")?))
    };
    let totals = filled.map_err(|error| match error {
        RescueError::NotABackup => not_a_backup(&args.file),
        error => error.into(),
    })?;
    let Totals { matches, branches, entries } = totals;
    let store = args.to.to_string();
    let restored = json!({ "store": store, "matches": matches, "branches": branches, "entries": entries });
    context.output.answer(&restored, || {
        let totals = plain(format_args!(": {}", in_words(totals)));
        vec![Line::from([plain("restored store "), strong(&store), totals])]
    })
}

/// Names the file that is not a backup; the library reads it without knowing its name.
fn not_a_backup(file: &Path) -> Failure {
    let name = if is_standard(file) { "standard input".into() } else { format!("`{}`", file.display()) };
    Failure::usage(format!("{name} is not a turnfold backup: unrecognized header"))
        .hint("name a file that `store backup` wrote")
}

impl RestoreTarget {
    fn read(value: OsString) -> Result<Self, String> {
        match value.to_str() {
            #[cfg(feature = "postgres")]
            Some(text) if is_database(text) => read_fleet(text).map(|address| Self::Fleet(Box::new(address))),
            #[cfg(not(feature = "postgres"))]
            Some(text) if is_database(text) => Err(left_out("postgres")),
            _ => Ok(Self::Dir(value.into())),
        }
    }

    fn fill(&self, reader: impl Read) -> Result<Totals, RescueError> {
        let progress = &mut progress("restoring");
        match self {
            #[cfg(feature = "postgres")]
            Self::Fleet(address) => Store::restore_fleet(reader, address, progress),
            Self::Dir(dir) => Store::restore(reader, dir, progress),
        }
    }
}

impl fmt::Display for RestoreTarget {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            #[cfg(feature = "postgres")]
            Self::Fleet(address) => address.fmt(out),
            Self::Dir(dir) => dir.display().fmt(out),
        }
    }
}
