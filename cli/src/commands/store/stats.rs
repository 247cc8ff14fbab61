//! `turnfold store stats`: how much the store holds.

use serde::Serialize;
use turnfold_replay::Sources;
use turnfold_store::{MatchStats, Store, StoreStats};

use super::progress::Progress;
use super::totals::told;
use crate::context::Context;
use crate::failure::{Answer, Failure};
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
    matches: u64,
    branches: u64,
    entries: u64,
    pages: u64,
    entries_on_pages: u64,
    tails: u64,
    entry_bytes: u64,
    bytes_on_disk: u64,
    largest: Vec<LargestJson<'a>>,
}

#[derive(Serialize)]
struct LargestJson<'a> {
    #[serde(rename = "match")]
    match_name: &'a str,
    branches: u64,
    entries: u64,
    entry_bytes: u64,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<Answer, Failure> {
    let store = context.read_store()?;
    let progress = Progress::new("counting");
    let stats = store.stats(args.top, &mut progress.observer())?;
    drop(progress);
    let bytes_on_disk = Store::bytes_on_disk(context.store_dir())?;
    if context.output.is_json() {
        context.output.json(&to_json(&stats, bytes_on_disk))?;
        return Ok(Answer::Yes);
    }
    print(&stats, bytes_on_disk, context)
}

fn print(stats: &StoreStats, bytes_on_disk: u64, context: &mut Context) -> Result<Answer, Failure> {
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
    output.line(format_args!("{bytes_on_disk} bytes on disk{}", each(bytes_on_disk)))?;
    let width = largest.iter().map(|found| found.name.as_str().len()).max().unwrap_or(0);
    for MatchStats { name, branches, entries, entry_bytes } in largest {
        let name = paint(Tone::Strong, format_args!("{name:width$}"));
        let entries = counted(*entries, "entry", "entries");
        let branches = counted(*branches, "branch", "branches");
        output.line(format_args!("{name}  {entries}, {branches}, {entry_bytes} bytes"))?;
    }
    Ok(Answer::Yes)
}

fn to_json(stats: &StoreStats, bytes_on_disk: u64) -> StatsJson<'_> {
    let largest = stats.largest.iter().map(|found| LargestJson {
        match_name: found.name.as_str(),
        branches: found.branches,
        entries: found.entries,
        entry_bytes: found.entry_bytes,
    });
    StatsJson {
        matches: stats.totals.matches,
        branches: stats.totals.branches,
        entries: stats.totals.entries,
        pages: stats.pages,
        entries_on_pages: stats.entries_on_pages,
        tails: stats.tails,
        entry_bytes: stats.entry_bytes,
        bytes_on_disk,
        largest: largest.collect(),
    }
}
