//! `turnfold store restore`: a store from a backup.

use std::io::{self, BufReader};
use std::path::PathBuf;

use turnfold_replay::input;
use turnfold_store::Store;

use super::progress::Progress;
use super::totals::told;

use crate::context::Context;
use crate::failure::{Answer, Failure};
use crate::files::is_standard;
use crate::output::{Tone, paint};
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

    /// Where to make the store; a directory that does not exist or is empty
    #[arg(value_name = "DIR")]
    dir: PathBuf,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<Answer, Failure> {
    signals::remove_drafts();
    let progress = Progress::new("restoring");
    let totals = if is_standard(&args.file) {
        Store::restore(io::stdin().lock(), &args.dir, &mut progress.observer())?
    } else {
        let file = input::open(&args.file, "backup")?;
        Store::restore(BufReader::new(file), &args.dir, &mut progress.observer())?
    };
    drop(progress);
    if context.output.is_json() {
        context.output.json(&serde_json::json!({
            "store": args.dir.display().to_string(),
            "matches": totals.matches,
            "branches": totals.branches,
            "entries": totals.entries,
        }))?;
        return Ok(Answer::Yes);
    }
    let dir = paint(Tone::Strong, args.dir.display());
    context.output.line(format_args!("restored store {dir}: {}", told(totals)))?;
    Ok(Answer::Yes)
}
