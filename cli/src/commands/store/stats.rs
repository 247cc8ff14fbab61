//! `turnfold store stats`: how much the store holds.

use serde::Serialize;
use turnfold_replay::Sources;
use turnfold_store::{MatchStats, Store, StoreStats, Totals};

use super::progress::{Progress, in_words};
use crate::context::Context;
use crate::failure::{ExitStatus, Failure};
use crate::output::{Line, counted, plain, strong};

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
    /// Of these, the bytes of the journal and of its index.
    journal_bytes: Option<u64>,
    index_bytes: Option<u64>,
    largest: Vec<MatchStats>,
}

impl Measured {
    fn lines(&self) -> Vec<Line> {
        let Self { totals, pages, entry_bytes, bytes_on_disk, journal_bytes, index_bytes, largest, .. } =
            self;
        let each = |bytes: u64| match totals.entries {
            0 => String::new(),
            entries => format!(", {} an entry", bytes.div_ceil(entries)),
        };
        let pages = counted(*pages, "page", "pages");
        let mut lines = vec![
            Line::from(in_words(*totals)),
            format!("{entry_bytes} bytes of entries on {pages}{}", each(*entry_bytes)).into(),
        ];
        lines.extend(bytes_on_disk.map(|bytes| Line::from(format!("{bytes} bytes on disk{}", each(bytes)))));
        if let (Some(journal), Some(index)) = (journal_bytes, index_bytes) {
            lines.push(format!("{journal} bytes journal, {index} bytes index").into());
        }
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
    let (mut bytes_on_disk, mut journal_bytes, mut index_bytes) = (None, None, None);
    if context.fleet().is_none() {
        let dir = context.store_dir()?;
        let (journal, index) = Store::journal_and_index_bytes(dir)?;
        bytes_on_disk = Some(Store::bytes_on_disk(dir)?);
        (journal_bytes, index_bytes) = (Some(journal), Some(index));
    }
    let StoreStats { totals, pages, entries_on_pages, tails, entry_bytes, largest } = stats;
    let measured = Measured {
        totals,
        pages,
        entries_on_pages,
        tails,
        entry_bytes,
        bytes_on_disk,
        journal_bytes,
        index_bytes,
        largest,
    };
    context.output.answer(&measured, || measured.lines())
}
