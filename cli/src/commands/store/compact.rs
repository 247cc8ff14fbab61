//! `turnfold store compact`: the same store in fewer bytes.

use serde::Serialize;
use turnfold_store::{Compacted, Store, Totals};

use super::progress::{Progress, in_words};
use crate::context::Context;
use crate::failure::{ExitStatus, Failure};

/// Rewrite the store without what was deleted
///
/// No match changes, and no byte of what was deleted remains. Needs room for the old and the new store at once. After a crash, the next command completes or rolls back the compaction.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: turnfold store compact --store archive")]
pub(crate) struct Args {}

/// A store that was compacted.
#[derive(Serialize)]
struct CompactedStore {
    #[serde(flatten)]
    totals: Totals,
    bytes_before: u64,
    bytes_after: u64,
}

pub(crate) fn run(_args: &Args, context: &mut Context) -> Result<ExitStatus, Failure> {
    let dir = context.store_dir()?;
    let progress = Progress::new("compacting");
    let compacted = Store::compact(dir, &mut progress.observer())?;
    drop(progress);
    let Compacted { totals, bytes_before, bytes_after } = compacted;
    context.output.answer(&CompactedStore { totals, bytes_before, bytes_after }, || {
        vec![format!("compacted {}: {bytes_before} → {bytes_after} bytes", in_words(totals)).into()]
    })
}
