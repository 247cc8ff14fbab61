//! `turnfold store stats`: how much the store holds.

use serde::Serialize;
use turnfold_replay::Sources;
use turnfold_store::{MatchStats, Store, StoreStats, Totals};

use super::progress::Progress;
use super::totals::told;
use crate::context::Context;
use crate::failure::{ExitStatus, Failure};
use crate::output::{Tone, counted, paint};

/// Tell how much the store holds
///
/// Entries of a branch that begins on another are counted there only.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: turnfold store stats --top 20")]
pub(crate) struct Args {
    /// How many of the largest matches to list
    #[arg(long, value_name = "N", default_value_t = 5)]
    top: usize,
}

#[derive(Serialize)]
struct StatsJson<'a> {
    #[serde(flatten)]
    totals: Totals,
    pages: u64,
    entries_on_pages: u64,
    tails: u64,
    entry_bytes: u64,
    /// A database does not say.
    bytes_on_disk: Option<u64>,
    largest: &'a [MatchStats],
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus, Failure> {
    let store = context.read_store()?;
    let progress = Progress::new("counting");
    let stats = store.stats(args.top, &mut progress.observer())?;
    drop(progress);
    let bytes_on_disk = match context.fleet() {
        None => Some(Store::bytes_on_disk(context.store_dir()?)?),
        Some(_) => None,
    };
    if context.output.is_json() {
        context.output.json(&to_json(&stats, bytes_on_disk))?;
        return Ok(ExitStatus::Yes);
    }
    print(&stats, bytes_on_disk, context)
}

fn print(
    stats: &StoreStats,
    bytes_on_disk: Option<u64>,
    context: &mut Context,
) -> Result<ExitStatus, Failure> {
    let output = &mut context.output;
    let StoreStats { totals, pages, entries_on_pages, tails, entry_bytes, largest } = stats;
    output.line(told(*totals))?;
    let pages = counted(*pages, "page", "pages");
    output.line(format_args!("{entries_on_pages} on {pages}, {tails} not yet on a page"))?;
    let each = |bytes: u64| match totals.entries {
        0 => String::new(),
        entries => format!(", {} an entry", bytes.div_ceil(entries)),
    };
    output.line(format_args!("{entry_bytes} bytes of entries{}", each(*entry_bytes)))?;
    if let Some(bytes_on_disk) = bytes_on_disk {
        output.line(format_args!("{bytes_on_disk} bytes on disk{}", each(bytes_on_disk)))?;
    }
    let width = largest.iter().map(|found| found.name.as_str().len()).max().unwrap_or(0);
    for MatchStats { name, branches, entries, entry_bytes } in largest {
        let name = paint(Tone::Strong, format_args!("{name:width$}"));
        let entries = counted(*entries, "entry", "entries");
        let branches = counted(*branches, "branch", "branches");
        output.line(format_args!("{name}  {entries}, {branches}, {entry_bytes} bytes"))?;
    }
    Ok(ExitStatus::Yes)
}

fn to_json(stats: &StoreStats, bytes_on_disk: Option<u64>) -> StatsJson<'_> {
    let &StoreStats { totals, pages, entries_on_pages, tails, entry_bytes, ref largest } = stats;
    StatsJson { totals, pages, entries_on_pages, tails, entry_bytes, bytes_on_disk, largest }
}
