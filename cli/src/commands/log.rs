//! `turnfold log`: prints the entries of a revision with their outcomes, or with `--raw` as they are stored.

use std::collections::VecDeque;

use regex_lite::{Regex, RegexBuilder};
use serde::Serialize;
use serde_json::json;
use turnfold_core::{Digest, Seat};
use turnfold_history::text::time;
use turnfold_history::{CommandForm, RangeName, Record, SourceName, Sources, Viewer, rules_of};
use turnfold_store::{Entry, IdempotencyKey};

use crate::context::Context;
use crate::failure::{ExitStatus, Failure, Result};
use crate::histories::warn_unless_current;
use crate::output::{Line, dim, plain, strong};
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
        warn_unless_current(revision, || context.matches()?.current_branch(&revision.match_name))?;
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
    workspace.matches_with(&range.source)?.log(args, range, output)?;
    Ok(ExitStatus::Yes)
}

/// Adds the number of an entry, and keeps only the last ones.
pub(crate) fn push_latest(latest: &mut VecDeque<u64>, seq: u64, most: u64) {
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
