//! `turnfold log --raw`: prints entries as they are stored, also if this program lacks the rules of the match.

use std::collections::VecDeque;

use serde::Serialize;
use serde_json::json;
use turnfold_core::{Digest, Seat};
use turnfold_history::text::time;
use turnfold_history::{CommandForm, RangeName, SourceName, Sources, Tail, rules_of};
use turnfold_store::{Entry, IdempotencyKey};

use super::push_latest;
use crate::context::Context;
use crate::failure::{ExitStatus, Failure};
use crate::output::{Line, dim, plain, strong};

#[derive(Serialize)]
struct StoredEntry {
    source: String,
    seq: u64,
    seat: Seat,
    /// The command as its ruleset encodes it, in hex.
    command_bytes: String,
    recorded_at_ms: i64,
    key: Option<IdempotencyKey>,
    link: Digest,
}

impl StoredEntry {
    fn of(source: &str, entry: Entry, link: Digest) -> Self {
        let Entry { seq, seat, command, recorded_at_ms, idempotency_key: key } = entry;
        let command_bytes = CommandForm::Bytes(command).to_string();
        Self { source: source.into(), seq, seat, command_bytes, recorded_at_ms, key, link }
    }

    fn line(&self) -> Line {
        let Self { seq, seat, command_bytes, recorded_at_ms, key, link, .. } = self;
        let key = key.as_ref().map(|key| format!(" key {key}")).unwrap_or_default();
        let rest = format!(" {} link {link:.16}{key}", time(Some(*recorded_at_ms)));
        Line::from([plain(format_args!("{seq} {seat} ")), strong(command_bytes), dim(rest)])
    }
}

pub(super) fn print(
    range: &RangeName,
    seats: &[Seat],
    last: u64,
    context: &mut Context,
) -> Result<ExitStatus, Failure> {
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
    let tail = Tail { count: if seats.is_empty() { last } else { u64::MAX }, first: range.first };
    let mut first = tail.before(&range.source, to)? + 1;
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
            let entry = StoredEntry::of(&source, entry, link);
            context.output.show(&entry, || vec![entry.line()])?;
            printed += 1;
        }
    }
    let ruleset = &genesis.ruleset;
    let version = genesis.ruleset_version;
    let not_checked = "commands and outcomes";
    let end = json!({
        "source": source,
        "printed": printed,
        "ruleset": ruleset,
        "version": version,
        "known": is_known,
        "not_checked": not_checked,
    });
    context.output.show(&end, || {
        let known = if is_known { "`--raw` does not ask" } else { "this build does not have" };
        vec![dim(format_args!("not checked: {not_checked}; {known} `{ruleset}` version {version}")).into()]
    })?;
    Ok(ExitStatus::Yes)
}
