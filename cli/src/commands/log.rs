//! `turnfold log`: the entries of a revision with their outcomes.

mod raw;

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::mem;

use regex_lite::{Regex, RegexBuilder};
use serde::Serialize;
use turnfold_core::{Digest, Seat};
use turnfold_replay::{
    LoggedRecord, RangeName, Record, ReplayError, Revision, SourceName, Sources, Tail, Viewer, render,
    viewer::seat_history::look_at_last,
};

use crate::context::Context;
use crate::failure::{ExitStatus, Failure};
use crate::limits::PATTERN_BYTES_MAX;
use crate::output::Output;
#[cfg(feature = "serve")]
use crate::remote::look::{self, require_unused};
use crate::sources::{Named, SourceArg, answer_each};

/// Print the entries of a revision with their outcomes
///
/// A range such as `duel:100..140` includes both its ends, and either may be left out. Of several sources, the entries of each
/// stand under its name; a folder or pattern stands for the replay files in it.
///
/// With `--as p1`, entries that p1 may not know are left out and not counted, so that the numbers of the others do not
/// reveal how many there are. Once revealed, they are counted. State hashes and idempotency keys, which could reveal
/// secrets, are left out too.
///
/// With `--raw`, prints the entries as they are stored: the commands as the bytes that their ruleset made of them, with times,
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
    viewer: Option<Viewer>,

    /// Print only this seat's entries; may be repeated
    #[arg(long = "seat", value_name = "SEAT")]
    seats: Vec<Seat>,

    /// Print only entries that match a regular expression
    #[arg(long, value_name = "REGEX", value_parser = read_pattern)]
    grep: Option<Regex>,

    /// Print when each entry was recorded, in UTC
    #[arg(long)]
    times: bool,

    /// Print the link after each entry, for `verify --expect`; available only to the host
    #[arg(long)]
    links: bool,

    /// Print the entries as they are stored, without the rules; available only to the host
    #[arg(long, conflicts_with = "grep")]
    raw: bool,

    /// Print only the last N entries that match
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
        is_of_seat && self.grep.as_ref().is_none_or(|pattern| pattern.is_match(&record.text()))
    }

    /// Returns what of a range to fold for the viewer: no more than is printed, unless a filter needs the rest.
    fn tail(&self, range: &RangeName) -> Tail {
        let is_filtered = !self.seats.is_empty() || self.grep.is_some();
        let count = if is_filtered { u64::MAX } else { self.last.unwrap_or(u64::MAX) };
        Tail { count, first: range.first }
    }
}

/// An entry that is printed, with the match or file that it is from; a contract.
#[derive(Serialize)]
struct SourcedRecord<'a> {
    source: &'a str,
    #[serde(flatten)]
    logged: &'a LoggedRecord,
}

/// Prints an entry.
fn print(source: &str, logged: &LoggedRecord, args: &Args, output: &mut Output) -> io::Result<()> {
    output.show(&SourcedRecord { source, logged }, || vec![render::logged(logged, args.times)])
}

/// Prints the entries as they are folded, so that a long log takes little memory.
fn print_all(
    args: &Args,
    range: &RangeName,
    viewer: Viewer,
    context: &mut Context,
) -> Result<ExitStatus, Failure> {
    let source = name(range);
    let blank = Output::new(context.output.format(), false);
    let mut output = mem::replace(&mut context.output, blank);
    let mut printed = Ok(());
    let looked = look_at_last(viewer, args.tail(range), &range.source, context, &mut |seen| {
        if printed.is_err() {
            return;
        }
        let line = seen.logged_record();
        if args.looks_for(&line.record) {
            printed = print(&source, &line, args, &mut output);
        }
    });
    context.output = output;
    printed?;
    looked?;
    Ok(ExitStatus::Yes)
}

/// Returns how the match or file of a range is named.
fn name(range: &RangeName) -> String {
    range.source.up_to(None).to_string()
}

/// Returns the link after each entry that is printed, if links are asked for.
fn links(
    args: &Args,
    range: &RangeName,
    lines: &VecDeque<LoggedRecord>,
    context: &Context,
) -> Result<BTreeMap<u64, Digest>, Failure> {
    let seq = |line: Option<&LoggedRecord>| line.and_then(|line| line.record.seq);
    match (&range.source, seq(lines.front()), seq(lines.back())) {
        (SourceName::Revision(Revision { match_name, branch, .. }), Some(first), Some(last))
            if args.links =>
        {
            let chain = context.read_store()?.links(match_name, branch, first..=last)?;
            Ok((first..).zip(chain).collect())
        }
        _ => Ok(BTreeMap::new()),
    }
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus, Failure> {
    match Named::of(&args.ranges, context)? {
        Named::One(range) => print_range(args, &range, context),
        Named::Several(ranges) => {
            context.keep_reader();
            answer_each(&ranges, name, context, |range, context| {
                context.output.begin(&name(range));
                print_range(args, range, context)
            })
        }
    }
}

fn print_range(args: &Args, range: &RangeName, context: &mut Context) -> Result<ExitStatus, Failure> {
    #[cfg(feature = "serve")]
    if let Some((client, line)) = context.service_with(&range.source)? {
        require_unused(&[
            ("`--seat`", !args.seats.is_empty()),
            ("`--grep`", args.grep.is_some()),
            ("`--times`", args.times),
            ("`--links`", args.links),
            ("`--raw`", args.raw),
            ("`--last`", args.last.is_some()),
        ])?;
        return look::print_log(&client, range, line, args.viewer, &mut context.output);
    }
    let viewer = args.viewer.unwrap_or(Viewer::HOST);
    if args.raw {
        viewer.require_all("entries as they are stored").map_err(ReplayError::from)?;
        let last = args.last.unwrap_or(u64::MAX);
        return raw::print(range, &args.seats, last, context);
    }
    if args.links {
        viewer.require_all("links").map_err(ReplayError::from)?;
        if matches!(range.source, SourceName::File(_)) {
            return Err(Failure::usage("a replay file has no links"));
        }
    }
    if args.last.is_none() && !args.links {
        return print_all(args, range, viewer, context);
    }
    let last = usize::try_from(args.last.unwrap_or(u64::MAX)).unwrap_or(usize::MAX);
    let mut lines = VecDeque::new();
    look_at_last(viewer, args.tail(range), &range.source, context, &mut |seen| {
        let line = seen.logged_record();
        if args.looks_for(&line.record) {
            lines.push_back(line);
        }
        if lines.len() > last {
            lines.pop_front();
        }
    })?;
    let (chain, source) = (links(args, range, &lines, context)?, name(range));
    for mut line in lines {
        line.link = line.record.seq.and_then(|seq| chain.get(&seq).copied());
        print(&source, &line, args, &mut context.output)?;
    }
    Ok(ExitStatus::Yes)
}
