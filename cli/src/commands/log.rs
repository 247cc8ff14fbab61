//! `turnfold log`: prints the entries of a revision with their outcomes.

mod raw;

use regex_lite::{Regex, RegexBuilder};
use turnfold_core::Seat;
use turnfold_history::{RangeName, Record, SourceName, Viewer};

use crate::context::Context;
use crate::failure::{ExitStatus, Failure};
use crate::histories::warn_of_left;
use crate::limits::PATTERN_BYTES_MAX;
use crate::sources::{Named, SourceArg};

/// Print the entries of a revision with their outcomes
///
/// A range such as `duel:100..140` includes both its ends, and either may be left out. With several sources, the entries of
/// each are printed under its name; a folder or pattern stands for the replay files in it, and a bundle for the matches in it.
///
/// With `--as p1`, entries that p1 may not know are left out and not counted, so that the numbers of the others do not
/// reveal how many there are. Once revealed, they are counted. State hashes and idempotency keys, which could reveal
/// secrets, are left out too.
///
/// With `--raw`, prints the entries as they are stored: commands as bytes, with times,
/// idempotency keys and links. This needs no rules, so it also works if this program no longer has the rules of the match. Only
/// the links are checked. It is for the host: without rules nothing can be concealed.
///
/// `--grep` matches a regular expression against SEAT COMMAND => OUTCOME, as printed.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  turnfold log duel:100..140\n  turnfold log duel.tfl:3.. --seat p2\n  \
    turnfold log duel --grep 'ignored|rejected' -n 5\n  turnfold log 'replays/**/*.tfl' --grep captured")]
pub(crate) struct Args {
    /// Revisions, replay files or ranges of them, REV:FIRST..LAST, folders with `*.tfl` or patterns such as
    /// 'replays/**/*.tfl'; `-` is standard input
    #[arg(value_name = "REV", required = true)]
    ranges: Vec<SourceArg<RangeName>>,

    /// Whose view to show [default: host]
    #[arg(long = "as", value_name = "SEAT")]
    pub(crate) viewer: Option<Viewer>,

    /// Print only this seat's entries; may be repeated
    #[arg(long = "seat", value_name = "SEAT")]
    pub(crate) seats: Vec<Seat>,

    /// Print only entries that match a regular expression
    #[arg(long, value_name = "REGEX", value_parser = read_pattern)]
    grep: Option<Regex>,

    /// Print when each entry was recorded, in UTC
    #[arg(long)]
    pub(crate) times: bool,

    /// Print the link after each entry, for `verify --expect`; available only to the host
    #[arg(long)]
    pub(crate) links: bool,

    /// Print the entries as they are stored, without the rules; available only to the host
    #[arg(long, conflicts_with = "grep")]
    raw: bool,

    /// Print only the last N entries that match
    #[arg(short = 'n', long, value_name = "N")]
    pub(crate) last: Option<u64>,
}

/// Reads a pattern. Its compiled size is bounded, and matching takes time in proportion to pattern and text.
fn read_pattern(text: &str) -> Result<Regex, String> {
    if text.len() > PATTERN_BYTES_MAX {
        return Err(format!("expected at most {PATTERN_BYTES_MAX} bytes"));
    }
    RegexBuilder::new(text).size_limit(1 << 20).build().map_err(|error| error.to_string())
}

impl Args {
    pub(crate) fn viewer(&self) -> Viewer {
        self.viewer.unwrap_or(Viewer::HOST)
    }

    pub(crate) fn looks_for(&self, record: &Record) -> bool {
        let is_of_seat = self.seats.is_empty() || record.seat.is_some_and(|seat| self.seats.contains(&seat));
        is_of_seat && self.grep.as_ref().is_none_or(|pattern| pattern.is_match(&record.text()))
    }

    pub(crate) fn is_filtered(&self) -> bool {
        !self.seats.is_empty() || self.grep.is_some()
    }

    pub(crate) fn is_plain(&self) -> bool {
        !self.is_filtered() && !self.times && !self.links && !self.raw && self.last.is_none()
    }
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus, Failure> {
    match Named::of(&args.ranges, context)? {
        Named::One(range) => print_range(args, &range, context),
        Named::Several(ranges) => {
            context.workspace.keep_reader();
            let name = |range: &RangeName| range.source.up_to(None).to_string();
            ranges.answer_each(name, context, |range, context| {
                context.output.begin(&name(range));
                print_range(args, range, context)
            })
        }
    }
}

fn print_range(args: &Args, range: &RangeName, context: &mut Context) -> Result<ExitStatus, Failure> {
    if let SourceName::Revision(revision) = &range.source {
        warn_of_left(revision, context)?;
    }
    if args.raw {
        args.viewer().require_all("entries as they are stored")?;
        let last = args.last.unwrap_or(u64::MAX);
        return raw::print(range, &args.seats, last, context);
    }
    let Context { workspace, output, .. } = context;
    workspace.log(args, range, output)?;
    Ok(ExitStatus::Yes)
}
