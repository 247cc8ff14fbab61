//! `turnfold log`: the entries of a revision with their outcomes.

use jiff::Timestamp;
use serde::Serialize;
use turnfold_core::Seat;

use crate::context::Context;
use crate::failure::{Answer, Failure};
use crate::output::{Tone, paint};
use crate::record::{Detail, Record, RecordJson};
use crate::revision::SourceName;
use crate::source::{LineOfPlay, SourceEntry};

/// Print the entries of a revision with their outcomes
///
/// Looking as a player, entries that the player may not know of are left out, and so are the state hashes, which
/// could betray them.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Revision or replay file
    #[arg(value_name = "REV")]
    source: SourceName,

    /// Whose eyes to look through
    #[arg(long = "as", value_name = "SEAT", default_value_t = Seat::Host)]
    seat: Seat,

    /// Print when each entry was recorded, in UTC
    #[arg(long)]
    times: bool,

    /// Print only the last N entries
    #[arg(short = 'n', long, value_name = "N")]
    last: Option<usize>,
}

#[derive(Serialize)]
struct LogLine<'a> {
    #[serde(flatten)]
    record: RecordJson<'a>,
    recorded_at_ms: Option<i64>,
    key: Option<&'a str>,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<Answer, Failure> {
    let line_of_play = LineOfPlay::load(&args.source, context)?;
    let skipped = args.last.map_or(0, |last| line_of_play.entries.len().saturating_sub(last));
    let first = line_of_play.entries.get(skipped).map_or(u64::MAX, |entry| entry.seq);
    let detail = Detail { hide_hashes: args.seat != Seat::Host, ..Detail::default() };
    let mut records = Vec::new();
    let mut state = line_of_play.start()?;
    state
        .fold_as(args.seat, &line_of_play.logged(), &line_of_play.dice, &mut |step| {
            if step.seq() >= first && !step.concealed() {
                records.push(Record::of(step, detail));
            }
        })
        .map_err(|error| line_of_play.broken_entry(&error))?;
    let mut entries = line_of_play.entries.iter();
    for record in &records {
        let entry = entries.find(|entry| Some(entry.seq) == record.seq);
        if context.output.is_json() {
            context.output.json(&LogLine {
                record: record.to_json()?,
                recorded_at_ms: entry.and_then(|entry| entry.recorded_at_ms),
                key: entry.and_then(|entry| entry.key.as_deref()),
            })?;
            continue;
        }
        if args.times {
            context.output.text(&format!("{} ", paint(Tone::Faint, time(entry))))?;
        }
        record.print(&mut context.output)?;
    }
    Ok(Answer::Yes)
}

/// Writes when an entry was recorded; a replay file does not know.
fn time(entry: Option<&SourceEntry>) -> String {
    let recorded = entry.and_then(|entry| entry.recorded_at_ms);
    let timestamp = recorded.and_then(|at| Timestamp::from_millisecond(at).ok());
    timestamp.map_or_else(|| "-".into(), |timestamp| timestamp.strftime("%Y-%m-%d %H:%M:%SZ").to_string())
}
