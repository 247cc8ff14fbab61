//! `turnfold store size`: shows how much the store holds.

use serde_json::json;
use turnfold_history::Sources;
use turnfold_store::{MatchStats, Store, StoreStats, Totals};

use super::progress::{in_words, progress};
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
    let mut on_disk = None;
    let mut journal = None;
    let mut index = None;
    if context.fleet().is_none() {
        let dir = context.store_dir()?;
        on_disk = Some(Store::bytes_on_disk(dir)?);
        (journal, index) = Some(Store::journal_and_index_bytes(dir)?).unzip();
    }
    let Totals { matches, branches, entries } = totals;
    // These three are null for a database, which has no files.
    let measured = json!({
        "matches": matches, "branches": branches, "entries": entries,
        "pages": pages, "entries_on_pages": entries_on_pages, "tails": tails, "entry_bytes": entry_bytes,
        "bytes_on_disk": on_disk, "journal_bytes": journal, "index_bytes": index,
        "largest": largest,
    });
    context.output.answer(&measured, || lines(&stats, on_disk, journal.zip(index)))
}

fn lines(stats: &StoreStats, on_disk: Option<u64>, journal_and_index: Option<(u64, u64)>) -> Vec<Line> {
    let StoreStats { totals, pages, entry_bytes, largest, .. } = stats;
    let each = |bytes: u64| match totals.entries {
        0 => String::new(),
        entries => format!(", {} an entry", bytes.div_ceil(entries)),
    };
    let pages = counted(*pages, "page", "pages");
    let mut lines = vec![
        Line::from(in_words(*totals)),
        format!("{entry_bytes} bytes of entries on {pages}{}", each(*entry_bytes)).into(),
    ];
    lines.extend(on_disk.map(|bytes| Line::from(format!("{bytes} bytes on disk{}", each(bytes)))));
    lines.extend(
        journal_and_index
            .map(|(journal, index)| Line::from(format!("{journal} bytes journal, {index} bytes index"))),
    );
    let width = largest.iter().map(|found| found.name.as_str().len()).max().unwrap_or(0);
    lines.extend(largest.iter().map(|MatchStats { name, branches, entries, entry_bytes }| {
        let entries = counted(*entries, "entry", "entries");
        let branches = counted(*branches, "branch", "branches");
        let name = strong(format_args!("{name:width$}"));
        Line::from([name, plain(format_args!("  {entries}, {branches}, {entry_bytes} bytes"))])
    }));
    lines
}
