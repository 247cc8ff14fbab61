//! `turnfold store salvage`: what can be saved of a damaged store.

use std::path::{Path, PathBuf};

use serde::Serialize;
use turnfold_store::{FleetAddress, LostEntries, Store, Totals};

use super::progress::Progress;
use super::totals::told;
use crate::context::Context;
use crate::failure::{ExitStatus, Failure};
use crate::output::{Tone, paint};
use crate::signals;

/// Make a new store of all that can be saved of a damaged one
///
/// The damaged store is copied first and never opened itself. Of every branch all entries before the first damaged one
/// are saved; every match and branch that could not be saved whole is listed. Exits with 0 when everything was saved,
/// with 1 when something is lost, with 3 when nothing can be read.
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

#[derive(Serialize)]
struct SalvageJson<'a> {
    store: String,
    #[serde(flatten)]
    saved: Totals,
    lost: &'a [LostEntries],
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus, Failure> {
    let is_fleet = |path: &Path| path.to_str().is_some_and(FleetAddress::is_meant);
    if context.fleet().is_some() || is_fleet(&args.dir) || is_fleet(&args.new_dir) {
        return Err(
            Failure::usage("the database server does that").hint("its archive or a backup has what is lost")
        );
    }
    signals::remove_drafts();
    let progress = Progress::new("salvaging");
    let salvage = Store::salvage(&args.dir, &args.new_dir, &mut progress.observer())?;
    drop(progress);
    let answer = if salvage.lost.is_empty() { ExitStatus::Yes } else { ExitStatus::No };
    let output = &mut context.output;
    if output.is_json() {
        output.json(&SalvageJson {
            store: args.new_dir.display().to_string(),
            saved: salvage.saved,
            lost: &salvage.lost,
        })?;
        return Ok(answer);
    }
    for lost in &salvage.lost {
        output.line(format_args!("{}{}: {}", paint(Tone::Removed, "lost"), place(lost), lost.reason))?;
    }
    let dir = paint(Tone::Strong, args.new_dir.display());
    let saved = if salvage.lost.is_empty() { "saved everything" } else { "saved" };
    output.line(format_args!("{saved} in store {dir}: {}", told(salvage.saved)))?;
    Ok(answer)
}

/// Writes where something is lost, as revisions are written; nothing when it concerns the store as a whole.
fn place(lost: &LostEntries) -> String {
    let Some(match_name) = &lost.match_name else { return String::new() };
    let branch = lost.branch.as_ref().map(|branch| format!("@{branch}")).unwrap_or_default();
    let entries = match (lost.from, lost.to) {
        (Some(from), Some(to)) if from == to => format!(" entry {from}"),
        (Some(from), Some(to)) => format!(" entries {from} to {to}"),
        (Some(from), None) => format!(" entries from {from} on"),
        (None, Some(to)) => format!(" entries up to {to}"),
        (None, None) => String::new(),
    };
    format!(" {match_name}{branch}{entries}")
}
