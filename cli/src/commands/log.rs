//! `turnfold log`: prints the entries of a revision with their outcomes.

mod latest;
mod raw;

use std::io;

use regex_lite::{Regex, RegexBuilder};
use serde::Serialize;
use turnfold_core::{Digest, Seat};
use turnfold_history::{
    LoggedRecord, RangeName, Record, ReplayError, Revision, SeatHistory, SourceName, Tail, ViewedEntry,
    Viewer,
};
use turnfold_show::render;
use turnfold_store::{Entries, StoreReader};

use self::latest::Latest;
use crate::context::Context;
use crate::failure::{ExitStatus, Failure};
use crate::histories::{self, no_seat, warn_of_left};
use crate::limits::PATTERN_BYTES_MAX;
use crate::output::Output;
use crate::remote::look;
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

/// Reads a pattern. Its compiled size is bounded, and matching takes time in proportion to pattern and text.
fn read_pattern(text: &str) -> Result<Regex, String> {
    if text.len() > PATTERN_BYTES_MAX {
        return Err(format!("expected at most {PATTERN_BYTES_MAX} bytes"));
    }
    RegexBuilder::new(text).size_limit(1 << 20).build().map_err(|error| error.to_string())
}

impl Args {
    fn looks_for(&self, record: &Record) -> bool {
        let is_of_seat = self.seats.is_empty() || record.seat.is_some_and(|seat| self.seats.contains(&seat));
        is_of_seat && self.grep.as_ref().is_none_or(|pattern| pattern.is_match(&record.text()))
    }

    fn is_filtered(&self) -> bool {
        !self.seats.is_empty() || self.grep.is_some()
    }

    fn is_plain(&self) -> bool {
        !self.is_filtered() && !self.times && !self.links && !self.raw && self.last.is_none()
    }
}

/// A printed entry with the match or file that it is from; the JSON form is stable.
#[derive(Serialize)]
struct SourcedRecord<'a> {
    source: &'a str,
    #[serde(flatten)]
    logged: &'a LoggedRecord,
}

fn print(source: &str, logged: &LoggedRecord, args: &Args, output: &mut Output) -> io::Result<()> {
    output.show(&SourcedRecord { source, logged }, || vec![render::logged(logged, args.times)])
}

struct Printing<'a> {
    args: &'a Args,
    range: &'a RangeName,
    history: SeatHistory,
}

impl Printing<'_> {
    /// Prints the entries while they are folded, so that a long log takes little memory.
    fn print(&self, context: &mut Context) -> Result<(), Failure> {
        let Self { args, range, history } = self;
        let source = name(range);
        let Some((tail, mut left)) = self.tail()? else { return Ok(()) };
        let store = history.store().filter(|_| args.links);
        let mut chain = None;
        let mut print_seen = |seen: &mut ViewedEntry<'_>| -> Result<(), Failure> {
            let mut line = seen.logged_record();
            if left == 0 || !args.looks_for(&line.record) {
                return Ok(());
            }
            left -= 1;
            if let Some(store) = store {
                let chain = match &mut chain {
                    Some(chain) => chain,
                    None => chain.insert(chain_from(seen.seq(), &range.source, store)?),
                };
                line.link = link_after(seen.seq(), chain)?;
            }
            Ok(print(&source, &line, args, &mut context.output)?)
        };
        let mut printed = Ok(());
        let looked = history.show_last(tail, &mut |seen| {
            if printed.is_ok() {
                printed = print_seen(seen);
            }
        });
        printed?;
        Ok(looked?)
    }

    /// Returns the entries to fold for the viewer, and the most entries to print. Only printed entries are folded,
    /// unless a filter needs the others. With `--last` and a filter, a first pass finds where the last matching entries
    /// begin.
    fn tail(&self) -> Result<Option<(Tail, u64)>, Failure> {
        let (RangeName { first, .. }, last) = (self.range, self.args.last);
        let Some(last) = last.filter(|_| self.args.is_filtered()) else {
            return Ok(Some((Tail { count: last.unwrap_or(u64::MAX), first: *first }, u64::MAX)));
        };
        let mut matching = Latest::of(last);
        self.history.show_last(Tail { count: u64::MAX, first: *first }, &mut |seen| {
            if self.args.looks_for(&seen.record()) {
                matching.add(seen.seq());
            }
        })?;
        Ok(matching.first().map(|first| (Tail { count: u64::MAX, first }, last)))
    }
}

fn name(range: &RangeName) -> String {
    range.source.up_to(None).to_string()
}

fn chain_from<'s>(seq: u64, source: &SourceName, store: &'s StoreReader) -> Result<Entries<'s>, Failure> {
    let SourceName::Revision(Revision { match_name, branch, seq: to }) = source else {
        return Err(Failure::usage("a replay file has no links"));
    };
    let to = to.map_or_else(|| store.head(match_name, branch), Ok)?;
    Ok(store.entries(match_name, branch, seq..=to)?)
}

fn link_after(seq: u64, chain: &mut Entries<'_>) -> Result<Option<Digest>, Failure> {
    while let Some((entry, link)) = chain.next_linked().transpose()? {
        if entry.seq == seq {
            return Ok(Some(link));
        }
    }
    Ok(None)
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus, Failure> {
    match Named::of(&args.ranges, context)? {
        Named::One(range) => print_range(args, &range, context),
        Named::Several(ranges) => {
            context.workspace.keep_reader();
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
    if let Some((client, revision)) = context.workspace.service_with(&range.source)?
        && args.is_plain()
        && (revision.seq.is_none() || client.sees_all() && args.viewer.is_none_or(Viewer::sees_all))
    {
        return look::print_log(client, range, revision, args.viewer, &mut context.output);
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
    if context.workspace.service_with(&range.source)?.is_some() {
        look::require_unused(&[("`--links`", args.links), ("`--times`", args.times)])?;
    }
    let history = histories::open(viewer, &range.source, context)?;
    let start = history.start()?;
    let players = start.players();
    if let Some(seat) = args.seats.iter().find(|seat| **seat != Seat::Host && !players.contains(seat)) {
        return Err(no_seat(seat.name(), players, &range.source));
    }
    Printing { args, range, history }.print(context)?;
    Ok(ExitStatus::Yes)
}
