//! `turnfold store size` shows how much the store holds, and `turnfold store compact` rewrites it in fewer bytes.

use serde_json::json;
use turnfold_history::Sources;
use turnfold_store::{Compacted, MatchStats, Store, StoreStats, Totals};

use super::{in_words, progress};
use crate::context::Context;
use crate::failure::{ExitStatus, Failure};
use crate::output::{Line, counted, plain, strong};

/// Show how much the store holds
///
/// An entry that several branches share is counted once, on the branch where it was recorded.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: turnfold store size --top 20")]
pub(crate) struct Args {
    /// How many of the largest matches to list
    #[arg(long, value_name = "N", default_value_t = 5)]
    top: usize,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus, Failure> {
    let store = context.read_store()?;
    let stats = store.stats(args.top, &mut progress("counting"))?;
    let StoreStats { totals, pages, entries_on_pages, tails, entry_bytes, largest } = &stats;
    let Totals { matches, branches, entries } = *totals;
    // These three stay null for a database, which has no files.
    let mut on_disk = None;
    let mut journal = None;
    let mut index = None;
    let mut lines = vec![
        Line::from(in_words(*totals)),
        format!(
            "{entry_bytes} bytes of entries on {}{}",
            counted(*pages, "page", "pages"),
            each(*entry_bytes, entries)
        )
        .into(),
    ];
    if context.fleet().is_none() {
        let dir = context.store_dir()?;
        let taken = Store::bytes_on_disk(dir)?;
        let (in_journal, in_index) = Store::journal_and_index_bytes(dir)?;
        lines.push(format!("{taken} bytes on disk{}", each(taken, entries)).into());
        lines.push(format!("{in_journal} bytes journal, {in_index} bytes index").into());
        on_disk = Some(taken);
        journal = Some(in_journal);
        index = Some(in_index);
    }
    let width = largest.iter().map(|found| found.name.as_str().len()).max().unwrap_or(0);
    for MatchStats { name, branches, entries, entry_bytes } in largest {
        let entries = counted(*entries, "entry", "entries");
        let branches = counted(*branches, "branch", "branches");
        let name = strong(format_args!("{name:width$}"));
        lines.push([name, plain(format_args!("  {entries}, {branches}, {entry_bytes} bytes"))].into());
    }
    let measured = json!({
        "matches": matches, "branches": branches, "entries": totals.entries,
        "pages": pages, "entries_on_pages": entries_on_pages, "tails": tails, "entry_bytes": entry_bytes,
        "bytes_on_disk": on_disk, "journal_bytes": journal, "index_bytes": index,
        "largest": largest,
    });
    context.output.answer(&measured, || lines)
}

fn each(bytes: u64, entries: u64) -> String {
    if entries == 0 { String::new() } else { format!(", {} an entry", bytes.div_ceil(entries)) }
}

/// Rewrite the store without what was deleted
///
/// No match changes, and no byte of what was deleted remains. Needs room for the old and the new store at once. After a crash, the next command completes or rolls back the compaction.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: turnfold store compact --store archive")]
pub(crate) struct CompactArgs {}

pub(crate) fn compact(_: &CompactArgs, context: &mut Context) -> Result<ExitStatus, Failure> {
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
