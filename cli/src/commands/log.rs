//! `turnfold log`: the entries of a revision with their outcomes.

use jiff::Timestamp;
use serde::Serialize;
use turnfold_core::Seat;

use crate::context::Context;
use crate::failure::{Answer, Failure};
use crate::output::{Tone, paint};
use crate::position::Position;
use crate::record::{Detail, Record, RecordJson};
use crate::revision::SourceName;
use crate::source::SourceEntry;

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
    last: Option<u64>,
}

#[derive(Serialize)]
struct LogLine<'a> {
    #[serde(flatten)]
    record: RecordJson<'a>,
    recorded_at_ms: Option<i64>,
    key: Option<&'a str>,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<Answer, Failure> {
    let mut position = Position::before_last(args.last.unwrap_or(u64::MAX), &args.source, context)?;
    let detail = Detail { hide_hashes: args.seat != Seat::Host, ..Detail::default() };
    let mut records = Vec::new();
    position.fold(args.seat, &mut |step| {
        if !step.concealed() {
            records.push(Record::of(step, detail));
        }
    })?;
    let mut entries = position.entries.iter();
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
