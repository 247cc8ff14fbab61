//! `turnfold store compact`: the same store in fewer bytes.

use turnfold_store::Store;

use super::progress::Progress;
use super::totals::told;
use crate::context::Context;
use crate::failure::{ExitStatus, Failure};

/// Write the store anew in fewer bytes
///
/// Nothing about any match changes; a store that would not become smaller is left as it is. It needs room for the old and the new store at once. After a crash the one or the
/// other is there, and whoever opens the store next finishes or undoes the rest.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: turnfold store compact --store archive")]
pub(crate) struct Args {}

pub(crate) fn run(_args: &Args, context: &mut Context) -> Result<ExitStatus, Failure> {
    let dir = context.store_dir()?;
    let progress = Progress::new("compacting");
    let compacted = Store::compact(dir, &mut progress.observer())?;
    drop(progress);
    let (before, after) = (compacted.bytes_before, compacted.bytes_after);
    if context.output.is_json() {
        context.output.json(&serde_json::json!({
            "matches": compacted.totals.matches,
            "branches": compacted.totals.branches,
            "entries": compacted.totals.entries,
            "bytes_before": before,
            "bytes_after": after,
        }))?;
        return Ok(ExitStatus::Yes);
    }
    context.output.line(format_args!("compacted {}: {before} → {after} bytes", told(compacted.totals)))?;
    Ok(ExitStatus::Yes)
}
