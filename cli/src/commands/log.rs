//! `turnfold log`: prints the entries of a revision with their outcomes, in a store here or at a service, or with `--raw`
//! as they are stored.

use std::collections::VecDeque;

use regex_lite::{Regex, RegexBuilder};
use serde::Serialize;
use serde_json::json;
use turnfold_core::{Digest, Seat};
use turnfold_history::text::time;
use turnfold_history::{
    CommandForm, RangeName, Record, Revision, SeatHistory, SourceName, Sources, ViewedEntry, Viewer, rules_of,
};
use turnfold_show::render;
use turnfold_store::{Entry, IdempotencyKey};

use crate::client::{Client, path_of};
use crate::context::Context;
use crate::failure::{ExitStatus, Failure, Result};
use crate::histories::{self, no_seat, warn_unless_current};
use crate::output::{Line, Output, Sourced, dim, plain, strong};
use crate::remote::{ListPart, ask, print_pages, require_unused, seen_at};
use crate::sources::{Named, SourceArg};

/// The longest regular expression, in bytes.
const PATTERN_BYTES_MAX: usize = 1 << 12;

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
    fn viewer(&self) -> Viewer {
        self.viewer.unwrap_or(Viewer::HOST)
    }

    fn looks_for(&self, record: &Record) -> bool {
        let is_of_seat = self.seats.is_empty() || record.seat.is_some_and(|seat| self.seats.contains(&seat));
        is_of_seat && self.grep.as_ref().is_none_or(|pattern| pattern.is_match(&record.text()))
    }

    fn is_filtered(&self) -> bool {
        !self.seats.is_empty() || self.grep.is_some()
    }
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus> {
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

fn print_range(args: &Args, range: &RangeName, context: &mut Context) -> Result<ExitStatus> {
    if let SourceName::Revision(revision) = &range.source {
        warn_unless_current(revision, || context.current_branch(&revision.match_name))?;
    }
    if args.raw {
        args.viewer().require_all("entries as they are stored")?;
        return print_stored(range, &args.seats, args.last.unwrap_or(u64::MAX), context);
    }
    let Context { workspace, output, .. } = context;
    let viewer = args.viewer();
    if args.links {
        viewer.require_all("links")?;
        if matches!(range.source, SourceName::File(_)) {
            return Err(Failure::usage("a replay file has no links"));
        }
    }
    if let Some((client, revision)) = workspace.service_with(&range.source)? {
        // The service has no filters, and counts the entries up to a number as the token's seat does.
        let is_plain = !args.is_filtered() && !args.times && !args.links && args.last.is_none();
        if is_plain && (revision.seq.is_none() || client.sees_all() && viewer.sees_all()) {
            return print_far(args, range, client, revision, output);
        }
        require_unused(&[("`--links`", args.links), ("`--times`", args.times)])?;
    }
    let history = histories::open(viewer, &range.source, workspace)?;
    let start = history.start()?;
    let players = start.players();
    if let Some(seat) = args.seats.iter().find(|seat| **seat != Seat::Host && !players.contains(seat)) {
        return Err(no_seat(seat.name(), players, &range.source));
    }
    print_folded(args, range, &history, output)
}

fn print_far(
    args: &Args,
    range: &RangeName,
    client: &Client,
    revision: &Revision,
    output: &mut Output,
) -> Result<ExitStatus> {
    let before = range.first.saturating_sub(1);
    if revision.seq.is_some() {
        // A page may end early without an error, so a request for the view checks that the last entry exists.
        ask(client, revision, "view", seen_at(revision.seq, args.viewer), output.format())?;
    }
    let part = ListPart {
        path: path_of(revision, "entries"),
        query: seen_at(None, args.viewer),
        after: (before > 0).then(|| before.to_string()),
        count: revision.seq.map(|last| last.saturating_sub(before)),
        source: Some(range.source.up_to(None).to_string()),
    };
    print_pages(client, part, output)?;
    Ok(ExitStatus::Yes)
}

/// Prints the entries while they are folded, so that a long log takes little memory.
fn print_folded(
    args: &Args,
    range: &RangeName,
    history: &SeatHistory,
    output: &mut Output,
) -> Result<ExitStatus> {
    let source = range.source.up_to(None).to_string();
    let mut before = range.before_last(args.last.unwrap_or(u64::MAX), history.head())?;
    let mut left = u64::MAX;
    if let Some(last) = args.last
        && args.is_filtered()
    {
        let mut latest = VecDeque::new();
        history.show(range.first.saturating_sub(1), history.head(), &mut |seen| {
            if args.looks_for(&seen.record()) {
                push_latest(&mut latest, seen.seq(), last);
            }
        })?;
        // Only entries from the first of these on are folded again to be printed.
        let Some(first) = latest.front() else { return Ok(ExitStatus::Yes) };
        before = first - 1;
        left = last;
    }
    let stored = match (&range.source, history.store()) {
        (SourceName::Revision(revision), Some(store)) if args.links => Some((revision, store)),
        _ => None,
    };
    let mut chain = None;
    let mut print_seen = |seen: &mut ViewedEntry<'_>| -> Result<()> {
        let mut line = seen.logged_record();
        if left == 0 || !args.looks_for(&line.record) {
            return Ok(());
        }
        left -= 1;
        if let Some((revision, store)) = stored {
            let entries = if let Some(entries) = &mut chain {
                entries
            } else {
                let Revision { match_name, branch, seq: to } = revision;
                let to = to.map_or_else(|| store.head(match_name, branch), Ok)?;
                chain.insert(store.entries(match_name, branch, seen.seq()..=to)?)
            };
            while let Some((entry, link)) = entries.next_linked().transpose()? {
                if entry.seq == seen.seq() {
                    line.link = Some(link);
                    break;
                }
            }
        }
        let sourced = Sourced { source: &source, item: &line };
        Ok(output.show(&sourced, || vec![render::logged(&line, args.times)])?)
    };
    let mut printed = Ok(());
    let looked = history.show(before, history.head(), &mut |seen| {
        if printed.is_ok() {
            printed = print_seen(seen);
        }
    });
    printed?;
    looked?;
    Ok(ExitStatus::Yes)
}

/// Adds the number of an entry, and keeps only the last ones.
fn push_latest(latest: &mut VecDeque<u64>, seq: u64, most: u64) {
    latest.push_back(seq);
    if latest.len() as u64 > most {
        latest.pop_front();
    }
}

#[derive(Serialize)]
struct StoredEntry<'a> {
    source: &'a str,
    seq: u64,
    seat: Seat,
    /// The command as its ruleset encodes it, in hex.
    command_bytes: String,
    recorded_at_ms: i64,
    key: Option<IdempotencyKey>,
    link: Digest,
}

impl StoredEntry<'_> {
    fn line(&self) -> Line {
        let Self { seq, seat, command_bytes, recorded_at_ms, key, link, .. } = self;
        let key = key.as_ref().map(|key| format!(" key {key}")).unwrap_or_default();
        let rest = format!(" {} link {link:.16}{key}", time(Some(*recorded_at_ms)));
        Line::from([plain(format_args!("{seq} {seat} ")), strong(command_bytes), dim(rest)])
    }
}

/// Needs no rules, so it also works if this program lacks those of the match.
fn print_stored(range: &RangeName, seats: &[Seat], last: u64, context: &mut Context) -> Result<ExitStatus> {
    let SourceName::Revision(revision) = &range.source else {
        return Err(Failure::usage("a replay file has no stored entries").hint("leave out `--raw`"));
    };
    let store = context.read_store()?;
    let genesis = store.genesis(&revision.match_name)?;
    // No referee starts, because nothing here needs rules (RF-3).
    let registry = context.registry.clone().without_referees();
    let is_known = rules_of(&genesis, revision, &registry).is_ok();
    let name = &revision.match_name;
    let branch = &revision.branch;
    let to = revision.seq.map_or_else(|| store.head(name, branch), Ok)?;
    let source = range.source.up_to(None).to_string();
    let mut first = range.before_last(if seats.is_empty() { last } else { u64::MAX }, to)? + 1;
    let is_of_seat = |entry: &Entry| seats.is_empty() || seats.contains(&entry.seat);
    if !seats.is_empty() && last < u64::MAX {
        let mut latest = VecDeque::new();
        for entry in store.entries(name, branch, first..=to)? {
            let entry = entry?;
            if is_of_seat(&entry) {
                push_latest(&mut latest, entry.seq, last);
            }
        }
        first = latest.front().map_or(to + 1, |seq| *seq);
    }
    let mut printed = 0_u64;
    let mut entries = store.entries(name, branch, first..=to)?;
    while let Some((entry, link)) = entries.next_linked().transpose()? {
        if is_of_seat(&entry) {
            let Entry { seq, seat, command, recorded_at_ms, idempotency_key: key } = entry;
            let command_bytes = CommandForm::Bytes(command).to_string();
            let entry = StoredEntry { source: &source, seq, seat, command_bytes, recorded_at_ms, key, link };
            context.output.show(&entry, || vec![entry.line()])?;
            printed += 1;
        }
    }
    let ruleset = &genesis.ruleset;
    let version = genesis.ruleset_version;
    let not_checked = "commands and outcomes";
    let end = json!({
        "source": source, "printed": printed, "ruleset": ruleset, "version": version, "known": is_known,
        "not_checked": not_checked,
    });
    context.output.answer(&end, || {
        let known = if is_known { "`--raw` does not ask" } else { "this build does not have" };
        vec![dim(format_args!("not checked: {not_checked}; {known} `{ruleset}` version {version}")).into()]
    })
}
