//! `turnfold store backup`: writes the whole store to one file.

use std::io::BufWriter;
use std::path::PathBuf;

use serde_json::json;
use turnfold_history::Sources;
use turnfold_proof::bundle::NeededModule;
use turnfold_store::{Damage, RescueError, Totals};

use super::{in_words, place, progress};
use crate::context::Context;
use crate::failure::{ExitStatus, Failure, Result};
use crate::files::{self, is_standard};
use crate::output::{Line, plain, strong};

/// Write everything in the store to one file
///
/// The file holds every match, branch and entry with its time and key, under checks, and `turnfold store restore` makes
/// a store of it again. It is written whole or not at all. It holds the seeds of seeded dice: only its owner can read
/// it. Modules are not in it: the command lists those that a restore needs. Damage to the store that the backup does not
/// have, since an index hides it, is a warning. Exits with 3 when standard output takes only a part of it.
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

pub(super) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus> {
    let mut stdout = None;
    if is_standard(&args.file) {
        let refused = Failure::usage("standard output cannot take both the backup and JSON");
        context.output.refuse_json(refused.hint("name a file, or leave out `--format json`"))?;
        stdout = Some(context.output.bytes()?);
    } else {
        files::check_new(&args.file, args.force)?;
    }
    let store = context.read_store()?;
    // A restore will need these modules (MD-10).
    let needed = NeededModule::of_all(&store)?;
    for module in &needed {
        tracing::warn!("not in the backup, needed by its matches: module {module}");
    }
    // An index can be lost any time, and with it what the journal does not have.
    if let Some(Damage { match_name, branch, seq, reason }) = store.hidden_damage()? {
        let mut at = String::new();
        if let Some(name) = match_name {
            at = format!("{}: ", place(name.as_str(), branch.as_ref(), seq));
        }
        tracing::warn!("the store is damaged, though the backup is whole: {at}{reason}; restore the backup");
    }
    let mut progress = progress("backing up");
    if let Some(stdout) = stdout {
        let written = store.backup(BufWriter::new(stdout), args.compress, &mut progress);
        written.map_err(|error| match error {
            RescueError::Write { source } => Failure::cut_short("backup", source),
            error => error.into(),
        })?;
        return Ok(ExitStatus::Yes);
    }
    let totals = files::write_private(&args.file, args.force, |file| {
        Ok(store.backup(BufWriter::new(file), args.compress, &mut progress)?)
    })?;
    let bytes =
        std::fs::metadata(&args.file).map_err(|error| Failure::file("read", &args.file, &error))?.len();
    let Totals { matches, branches, entries } = totals;
    let file = args.file.display().to_string();
    let written = json!({
        "file": file, "matches": matches, "branches": branches, "entries": entries, "bytes": bytes,
        "modules": needed,
    });
    context.output.answer(&written, || {
        let size = plain(format_args!(": {}, {bytes} bytes", in_words(totals)));
        vec![Line::from([plain("backed up to "), strong(&file), size])]
    })
}
