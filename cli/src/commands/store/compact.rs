//! `turnfold store compact`: rewrites the store in fewer bytes.

use serde_json::json;
use turnfold_store::{Compacted, Store, Totals};

use super::{in_words, progress};
use crate::context::Context;
use crate::failure::{ExitStatus, Failure};

/// Rewrite the store without what was deleted
///
/// No match changes, and no byte of what was deleted remains. Needs room for the old and the new store at once. After a crash, the next command completes or rolls back the compaction.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: turnfold store compact --store archive")]
pub(crate) struct Args {}

pub(crate) fn run(_args: &Args, context: &mut Context) -> Result<ExitStatus, Failure> {
    let Compacted { totals, bytes_before, bytes_after } =
        Store::compact(context.store_dir()?, &mut progress("compacting"))?;
    let Totals { matches, branches, entries } = totals;
    let document = json!({
        "matches": matches, "branches": branches, "entries": entries,
        "bytes_before": bytes_before, "bytes_after": bytes_after,
    });
    context.output.answer(&document, || {
        vec![format!("compacted {}: {bytes_before} → {bytes_after} bytes", in_words(totals)).into()]
    })
}
