//! `turnfold store restore`: makes a store from a backup.

use std::ffi::OsString;
use std::fmt;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use clap::builder::{OsStringValueParser, TypedValueParser};
use serde_json::json;
use turnfold_core::registry::ModuleSource as _;
use turnfold_history::error::{PUT_MODULE, input};
use turnfold_proof::bundle::NeededModule;
use turnfold_store::{RescueError, Store, StoreError, StoreReader, Totals};

use super::progress::{in_words, progress};
#[cfg(not(feature = "postgres"))]
use crate::address::left_out;
#[cfg(feature = "postgres")]
use crate::address::{FleetAddress, read_fleet};
use crate::address::{StoreAddress, is_database};
use crate::context::Context;
use crate::failure::{ExitStatus, Failure};
use crate::files::is_standard;
use crate::output::{Line, plain, strong};
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
    #[arg(value_name = "DIR", value_parser = OsStringValueParser::new().try_map(RestoreTarget::read))]
    to: RestoreTarget,
}

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
    let missing = list_missing(&args.to.open()?, context)?;
    let store = args.to.to_string();
    let restored = json!({
        "store": store, "matches": matches, "branches": branches, "entries": entries, "missing_modules": missing,
    });
    context.output.answer(&restored, || {
        let totals = plain(format_args!(": {}", in_words(totals)));
        vec![Line::from([plain("restored store "), strong(&store), totals])]
    })
}

impl Args {
    pub(super) fn address(&self) -> StoreAddress {
        match &self.to {
            RestoreTarget::Dir(dir) => StoreAddress::Dir(dir.clone()),
            #[cfg(feature = "postgres")]
            RestoreTarget::Fleet(address) => StoreAddress::Fleet(address.clone()),
        }
    }
}

/// Warns of the modules that the matches need and that are missing at the new place (MD-10), and returns them.
fn list_missing(store: &StoreReader, context: &Context) -> Result<Vec<NeededModule>, StoreError> {
    let needed = NeededModule::of_all(store)?.into_iter();
    let missing: Vec<_> =
        needed.filter(|needed| context.modules.by_digest(&needed.module).is_none()).collect();
    for module in &missing {
        tracing::warn!("missing, needed by restored matches: module {module}; {PUT_MODULE}");
    }
    Ok(missing)
}

/// Returns the failure for a file that is not a backup. The library does not know the name of the file.
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

    fn open(&self) -> Result<StoreReader, StoreError> {
        match self {
            #[cfg(feature = "postgres")]
            Self::Fleet(address) => StoreReader::open_fleet(address),
            Self::Dir(dir) => StoreReader::open(dir),
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
