//! `turnfold store stats`: how much the store holds.

use serde::Serialize;
use turnfold_replay::Sources;
use turnfold_store::{MatchStats, Store, StoreStats, Totals};

use super::progress::{Progress, in_words};
use crate::context::Context;
use crate::failure::{ExitStatus, Failure};
use crate::output::{Line, Report, counted, plain, strong};

/// Show how much the store holds
///
/// An entry that several branches share is counted once, on the branch where it was recorded.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: turnfold store stats --top 20")]
pub(crate) struct Args {
    /// How many of the largest matches to list
    #[arg(long, value_name = "N", default_value_t = 5)]
    top: usize,
}

/// How much a store holds.
#[derive(Serialize)]
struct Measured {
    #[serde(flatten)]
    totals: Totals,
    pages: u64,
    entries_on_pages: u64,
    tails: u64,
    entry_bytes: u64,
    /// Null for a database.
    bytes_on_disk: Option<u64>,
    largest: Vec<MatchStats>,
}

impl Report for Measured {
    fn lines(&self) -> Vec<Line> {
        let Self { totals, pages, entries_on_pages, tails, entry_bytes, bytes_on_disk, largest } = self;
        let each = |bytes: u64| match totals.entries {
            0 => String::new(),
            entries => format!(", {} an entry", bytes.div_ceil(entries)),
        };
        let pages = counted(*pages, "page", "pages");
        let mut lines = vec![
            Line::from(in_words(*totals)),
            format!("{entries_on_pages} on {pages}, {tails} not yet on a page").into(),
            format!("{entry_bytes} bytes of entries{}", each(*entry_bytes)).into(),
        ];
        lines.extend(bytes_on_disk.map(|bytes| Line::from(format!("{bytes} bytes on disk{}", each(bytes)))));
        let width = largest.iter().map(|found| found.name.as_str().len()).max().unwrap_or(0);
        lines.extend(largest.iter().map(|MatchStats { name, branches, entries, entry_bytes }| {
            let entries = counted(*entries, "entry", "entries");
            let branches = counted(*branches, "branch", "branches");
            let name = strong(format_args!("{name:width$}"));
            Line::from([name, plain(format_args!("  {entries}, {branches}, {entry_bytes} bytes"))])
        }));
        lines
    }
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
    let StoreStats { totals, pages, entries_on_pages, tails, entry_bytes, largest } = stats;
    context.output.report(&Measured {
        totals,
        pages,
        entries_on_pages,
        tails,
        entry_bytes,
        bytes_on_disk,
        largest,
    })?;
    Ok(ExitStatus::Yes)
}
