//! `turnfold log`: the entries of a revision with their outcomes.

use std::collections::VecDeque;

use regex_lite::{Regex, RegexBuilder};
use serde::Serialize;
use turnfold_core::Seat;

use crate::context::Context;
use crate::failure::{Answer, Failure};
use crate::limits::PATTERN_BYTES_MAX;
use crate::output::{self, Tone, paint};
use crate::position::{Position, Tail};
use crate::record::{Detail, Record, RecordJson};
use crate::revision::RangeName;

/// Print the entries of a revision with their outcomes
///
/// A range such as `duel:100..140` includes both its ends, and either may be left out. Looking as a player, entries
/// that the player may not know of are left out, and so are the state hashes, which could betray them.
///
/// `--grep` takes a regular expression and looks at SEAT COMMAND => OUTCOME, as printed.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  turnfold log duel:100..140\n  turnfold log duel.tfl:3.. --seat p2\n  \
    turnfold log duel --grep 'ignored|rejected' -n 5")]
pub(crate) struct Args {
    /// Revision, replay file or range of one, REV:FIRST..LAST; `-` is standard input
    #[arg(value_name = "REV")]
    range: RangeName,

    /// Whose eyes to look through
    #[arg(long = "as", value_name = "SEAT", default_value_t = Seat::Host)]
    viewer: Seat,

    /// Print only this seat's entries; may be given again for another
    #[arg(long = "seat", value_name = "SEAT")]
    seats: Vec<Seat>,

    /// Print only entries that match a regular expression
    #[arg(long, value_name = "REGEX", value_parser = read_pattern)]
    grep: Option<Regex>,

    /// Print when each entry was recorded, in UTC
    #[arg(long)]
    times: bool,

    /// Print only the last N entries, of those that are looked for
    #[arg(short = 'n', long, value_name = "N")]
    last: Option<u64>,
}

/// Reads a pattern. What it compiles to is bounded, and matching takes time in proportion to pattern and text.
fn read_pattern(text: &str) -> Result<Regex, String> {
    if text.len() > PATTERN_BYTES_MAX {
        return Err(format!("expected at most {PATTERN_BYTES_MAX} bytes"));
    }
    RegexBuilder::new(text).size_limit(1 << 20).build().map_err(|error| error.to_string())
}

impl Args {
    /// Returns `true` if the entry is one of those looked for.
    fn looks_for(&self, record: &Record) -> bool {
        let is_of_seat = self.seats.is_empty() || record.seat.is_some_and(|seat| self.seats.contains(&seat));
        is_of_seat && self.grep.as_ref().is_none_or(|pattern| pattern.is_match(&record.told()))
    }

    /// Returns what to fold under the viewer's eyes: no more than is printed, unless that depends on what it tells.
    fn tail(&self) -> Tail {
        let is_filtered = !self.seats.is_empty() || self.grep.is_some();
        let count = if is_filtered { u64::MAX } else { self.last.unwrap_or(u64::MAX) };
        Tail { count, first: self.range.first }
    }
}

#[derive(Serialize)]
struct LogLine<'a> {
    #[serde(flatten)]
    record: RecordJson<'a>,
    recorded_at_ms: Option<i64>,
    key: Option<&'a str>,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<Answer, Failure> {
    let mut position = Position::before(args.tail(), &args.range.source, context)?;
    let detail = Detail { hide_hashes: args.viewer != Seat::Host, ..Detail::default() };
    let last = usize::try_from(args.last.unwrap_or(u64::MAX)).unwrap_or(usize::MAX);
    let mut records = VecDeque::new();
    position.fold(args.viewer, &mut |step| {
        if step.concealed() {
            return;
        }
        let record = Record::of(step, detail);
        if args.looks_for(&record) {
            records.push_back(record);
        }
        if records.len() > last {
            records.pop_front();
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
            let time = output::time(entry.and_then(|entry| entry.recorded_at_ms));
            context.output.text(&format!("{} ", paint(Tone::Faint, time)))?;
        }
        record.print(&mut context.output)?;
    }
    Ok(Answer::Yes)
}
