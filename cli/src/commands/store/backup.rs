//! `turnfold store backup`: everything in one file.

use std::io::BufWriter;
use std::path::PathBuf;

use turnfold_replay::Sources;
use turnfold_store::RescueError;

use super::progress::Progress;
use super::totals::told;
use crate::context::Context;
use crate::failure::{ExitStatus, Failure};
use crate::files::{self, is_standard};
use crate::output::Tone;
use crate::output::paint;

/// Write everything in the store to one file
///
/// The file holds every match, branch and entry with its time and key, under checks, and `turnfold store restore` makes
/// a store of it again. It is written whole or not at all. It holds the seeds of seeded dice: only its owner can read
/// it. Exits with 3 when standard output takes only a part of it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: turnfold store backup --compress matches.tfb")]
pub(crate) struct Args {
    /// The file to write; `-` is standard output
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Compress it
    #[arg(long)]
    compress: bool,

    /// Overwrite the file if it exists
    #[arg(long)]
    force: bool,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus, Failure> {
    if is_standard(&args.file) {
        if context.output.is_json() {
            return Err(Failure::usage("standard output cannot take both the backup and JSON")
                .hint("name a file, or leave out `--format json`"));
        }
        let stdout = context.output.bytes()?;
        let store = context.read_store()?;
        let progress = Progress::new("backing up");
        let written = store.backup(BufWriter::new(stdout), args.compress, &mut progress.observer());
        written.map_err(|error| match error {
            RescueError::Write { source } => Failure::cut_short("backup", source),
            error => error.into(),
        })?;
        return Ok(ExitStatus::Yes);
    }
    files::check_new(&args.file, args.force)?;
    let store = context.read_store()?;
    let progress = Progress::new("backing up");
    let totals = files::write_private(&args.file, args.force, |file| {
        Ok(store.backup(BufWriter::new(file), args.compress, &mut progress.observer())?)
    })?;
    drop(progress);
    let bytes =
        std::fs::metadata(&args.file).map_err(|error| Failure::file("read", &args.file, &error))?.len();
    if context.output.is_json() {
        context.output.json(&serde_json::json!({
            "file": args.file.display().to_string(),
            "matches": totals.matches,
            "branches": totals.branches,
            "entries": totals.entries,
            "bytes": bytes,
        }))?;
        return Ok(ExitStatus::Yes);
    }
    let file = paint(Tone::Strong, args.file.display());
    context.output.line(format_args!("backed up to {file}: {}, {bytes} bytes", told(totals)))?;
    Ok(ExitStatus::Yes)
}
