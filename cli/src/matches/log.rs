//! The entries of a range, near or far.

use std::collections::VecDeque;

use turnfold_core::{Digest, Seat};
use turnfold_history::{RangeName, Revision, SeatHistory, SourceName, Tail, ViewedEntry};
use turnfold_show::render;
use turnfold_store::{Entries, StoreReader};

use super::Sourced;
use crate::commands::log::Args;
use crate::context::Workspace;
use crate::failure::Failure;
use crate::histories::{self, no_seat};
use crate::output::Output;
use crate::remote::client::{Client, path_of};
use crate::remote::look::{ListPart, ask, print_pages, require_unused, seen_at};

impl Workspace {
    pub(crate) fn log(&self, args: &Args, range: &RangeName, output: &mut Output) -> Result<(), Failure> {
        let viewer = args.viewer();
        if args.links {
            viewer.require_all("links")?;
            if matches!(range.source, SourceName::File(_)) {
                return Err(Failure::usage("a replay file has no links"));
            }
        }
        if let Some((client, revision)) = self.service_with(&range.source)? {
            // The service has no filters, and counts the entries up to a number as the token's seat does.
            if args.is_plain() && (revision.seq.is_none() || client.sees_all() && viewer.sees_all()) {
                return print_far(args, range, client, revision, output);
            }
            require_unused(&[("`--links`", args.links), ("`--times`", args.times)])?;
        }
        let history = histories::open(viewer, &range.source, self)?;
        let start = history.start()?;
        let players = start.players();
        if let Some(seat) = args.seats.iter().find(|seat| **seat != Seat::Host && !players.contains(seat)) {
            return Err(no_seat(seat.name(), players, &range.source));
        }
        print_folded(args, range, &history, output)
    }
}

fn print_far(
    args: &Args,
    range: &RangeName,
    client: &Client,
    revision: &Revision,
    output: &mut Output,
) -> Result<(), Failure> {
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
    Ok(())
}

/// Prints the entries while they are folded, so that a long log takes little memory.
fn print_folded(
    args: &Args,
    range: &RangeName,
    history: &SeatHistory,
    output: &mut Output,
) -> Result<(), Failure> {
    let source = range.source.up_to(None).to_string();
    let mut tail = Tail { count: args.last.unwrap_or(u64::MAX), first: range.first };
    let mut left = u64::MAX;
    if let Some(last) = args.last
        && args.is_filtered()
    {
        let Some(first) = first_of_last(last, args, range, history)? else { return Ok(()) };
        tail = Tail { count: u64::MAX, first };
        left = last;
    }
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
        let sourced = Sourced { source: &source, item: &line };
        Ok(output.show(&sourced, || vec![render::logged(&line, args.times)])?)
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

/// Returns the first of the last entries that match. Only entries from there are folded again to be printed.
fn first_of_last(
    last: u64,
    args: &Args,
    range: &RangeName,
    history: &SeatHistory,
) -> Result<Option<u64>, Failure> {
    let mut latest = VecDeque::new();
    history.show_last(Tail { count: u64::MAX, first: range.first }, &mut |seen| {
        if args.looks_for(&seen.record()) {
            push_latest(&mut latest, seen.seq(), last);
        }
    })?;
    Ok(latest.front().copied())
}

/// Adds the number of an entry, and keeps only the last ones.
pub(crate) fn push_latest(latest: &mut VecDeque<u64>, seq: u64, most: u64) {
    latest.push_back(seq);
    if latest.len() as u64 > most {
        latest.pop_front();
    }
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
