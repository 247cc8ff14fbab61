//! `turnfold store salvage`: saves the readable part of a damaged store.

use std::path::PathBuf;

use serde_json::json;
use turnfold_store::{LostEntries, Salvage, Store, Totals};

use super::{in_words, progress};
use crate::address::is_database;
use crate::commands::verify;
use crate::context::Context;
use crate::failure::{ExitStatus, Failure};
use crate::output::{Line, plain, removed, strong};
use crate::signals;

/// Save what is readable of a damaged store to a new one
///
/// Changes nothing in the damaged store. Saves every sound commit, except what follows a gap in its own branch; a sound
/// index fills gaps. Lists what could not be saved, and every damaged file. Exits with 0 if everything is sound and saved,
/// with 1 if something is lost or damaged, with 3 if nothing can be read.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: turnfold store salvage .turnfold rescued")]
pub(crate) struct Args {
    /// The damaged store
    #[arg(value_name = "DIR")]
    dir: PathBuf,

    /// Where to make the new store; a directory that does not exist or is empty
    #[arg(value_name = "NEWDIR")]
    new_dir: PathBuf,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus, Failure> {
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
            let what = plain(format_args!("{}: {}", place(lost), lost.reason));
            lines.push(Line::from([removed("lost"), what]));
        }
        let heading = plain(if is_all { "saved everything in store " } else { "saved in store " });
        let totals = plain(format_args!(": {}", in_words(saved)));
        lines.push(Line::from([heading, strong(&store), totals]));
        lines
    })
}

fn place(lost: &LostEntries) -> String {
    // A loss of the store as a whole has no place.
    let Some(match_name) = &lost.match_name else { return String::new() };
    let place = verify::place(match_name.as_str(), lost.branch.as_ref(), None);
    let entries = match (lost.from, lost.to) {
        (Some(from), Some(to)) if from == to => format!(" entry {from}"),
        (Some(from), Some(to)) => format!(" entries {from} to {to}"),
        (Some(from), None) => format!(" entries from {from} on"),
        (None, Some(to)) => format!(" entries up to {to}"),
        (None, None) => String::new(),
    };
    format!(" {place}{entries}")
}
