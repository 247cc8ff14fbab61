//! Prints a log that is folded here.

use std::collections::VecDeque;

use turnfold_core::Seat;
use turnfold_history::{RangeName, Revision, SourceName, ViewedEntry};
use turnfold_show::render;

use crate::commands::log::{Args, push_latest};
use crate::context::Workspace;
use crate::failure::Result;
use crate::histories::{no_seat, open};
use crate::output::{Output, Sourced};

/// Prints the entries while they are folded, so that a long log takes little memory.
pub(super) fn log(args: &Args, range: &RangeName, workspace: &Workspace, output: &mut Output) -> Result<()> {
    let history = open(args.viewer(), &range.source, workspace)?;
    let start = history.start()?;
    let players = start.players();
    if let Some(seat) = args.seats.iter().find(|seat| **seat != Seat::Host && !players.contains(seat)) {
        return Err(no_seat(seat.name(), players, &range.source));
    }
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
        let Some(first) = latest.front() else { return Ok(()) };
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
    Ok(())
}
