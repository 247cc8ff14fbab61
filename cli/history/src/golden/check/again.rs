//! Folds again: a fold must give the same result every time, also when it resumes from a stored state.

use std::fmt::Display;

use turnfold_core::AnyState;

use super::mismatch::Mismatch;
use crate::compare::divergence::{Claim, Divergence, DivergenceKind, Subject};
use crate::history::entry::{LogEntry, ShortHash};
use crate::tfl::Replay;

/// Folds entries, which have line numbers, a second time, and also from a state that is stored halfway. Compares both
/// with `hash`, the state hash that the first fold ended in.
///
/// Halfway, the second fold is compared with the hash in the file, because the first fold agreed with it there.
pub(super) fn disagreement(
    replay: &Replay,
    setup: &[u8],
    entries: &[(usize, &LogEntry)],
    hash: ShortHash,
) -> Option<Box<Mismatch>> {
    let (head, tail) = entries.split_at(entries.len() / 2);
    let kind = DivergenceKind::NotDeterministic;
    let Ok(mut second) = replay.header.rules.start(setup) else {
        return Some(otherwise(replay, &[], kind, &hash, "no start"));
    };
    let middle_hash = head.last().and_then(|(_, entry)| entry.hash);
    if let Err(other) = fold(replay, second.as_mut(), head, middle_hash) {
        let first = match middle_hash {
            Some(hash) => hash.to_string(),
            None => "entries that can be folded".into(),
        };
        return Some(otherwise(replay, head, kind, &first, &other));
    }
    let stored = second.state_bytes();
    let rolls = second.rolls();
    if let Err(other) = fold(replay, second.as_mut(), tail, Some(hash)) {
        return Some(otherwise(replay, entries, kind, &hash, &other));
    }
    let resumed = match replay.header.rules.resume(&stored, rolls) {
        Ok(mut state) => fold(replay, state.as_mut(), tail, Some(hash)),
        Err(error) => Err(error.to_string()),
    };
    let other = resumed.err()?;
    Some(otherwise(replay, entries, DivergenceKind::NotStorable, &hash, &other))
}

/// Folds entries and requires this state hash after them. The error is the other hash, or why the fold failed.
fn fold(
    replay: &Replay,
    state: &mut dyn AnyState,
    entries: &[(usize, &LogEntry)],
    hash: Option<ShortHash>,
) -> Result<(), String> {
    let log = LogEntry::all_logged(entries.iter().map(|(_, entry)| *entry));
    state.fold(&log, &replay.header.dice, &mut |_| {}).map_err(|error| error.to_string())?;
    let other = ShortHash::from(state.state_hash());
    match hash {
        Some(hash) if hash != other => Err(other.to_string()),
        _ => Ok(()),
    }
}

fn otherwise(
    replay: &Replay,
    entries: &[(usize, &LogEntry)],
    kind: DivergenceKind,
    first: &dyn Display,
    other: &str,
) -> Box<Mismatch> {
    let mut line = replay.closing_line();
    let mut subject = Subject::End { after: 0 };
    if let Some((at, entry)) = entries.last() {
        line = *at;
        subject = Subject::from(*entry);
    }
    let first = Claim::Run(first.to_string());
    let other = Claim::Run(other.into());
    let divergence = Divergence::new(subject, kind, Some(first), other);
    Box::new(Mismatch::new(&replay.file, line, divergence))
}
