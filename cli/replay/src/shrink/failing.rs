//! The smallest log that still fails `check` in the same way.

use std::path::Path;

use super::condition::SameAnswer;
use super::{Given, Least, Shrinker};
use crate::error::ReplayError;
use crate::line::LineOfPlay;
use crate::revision::input_name;
use crate::sources::Sources;
use crate::tfl::{self, EntryLine, Line, Mismatch, MismatchKind, Replay};

/// Shrinks a replay file that fails `check`.
///
/// The line at which it fails stays, with what the file says of it. The entries before it shrink as long as this build
/// gives the same answer to it; what they do is told anew, because the file says it of another log. A state hash stands
/// for all that went before it and a seeded roll for the number of entries, so before those nothing can go.
pub fn failing(
    path: &Path,
    sources: &dyn Sources,
    progress: &mut dyn FnMut(usize, u64),
) -> Result<Least, ReplayError> {
    let replay = sources.read_replay(path)?;
    let Some(mismatch) = tfl::check(&replay)?.difference else {
        let message = format!("`{}` passes the check, so there is no failure to shrink", input_name(path));
        return Err(ReplayError::negative(message).hint("say what to look for with `--when` or `--still`"));
    };
    let cut = replay.until_line(mismatch.line);
    match (mismatch.kind, cut.lines.last().cloned()) {
        (MismatchKind::Outcome | MismatchKind::Rejected | MismatchKind::Attempt, Some(line)) => {
            before_line(path, &replay, &cut, line, progress)
        }
        (MismatchKind::StateHash, Some(Line::Entry(entry))) => Ok(cut_off(
            &replay,
            cut,
            &entry,
            "only the state hash differs, which stands for all that went before",
        )),
        (MismatchKind::WrongRoll, Some(Line::Entry(entry))) => {
            Ok(cut_off(&replay, cut, &entry, "the seeded roll differs, which depends on its entry's number"))
        }
        _ => Err(nothing_to_shrink(&mismatch)),
    }
}

/// Shrinks the entries before the line at which the check fails.
fn before_line(
    path: &Path,
    replay: &Replay,
    cut: &Replay,
    line: Line,
    progress: &mut dyn FnMut(usize, u64),
) -> Result<Least, ReplayError> {
    let source = LineOfPlay::of_replay(path, replay)?;
    let (given, attempt) = match &line {
        Line::Entry(entry) => (Given { seat: entry.seat, command: entry.command.clone() }, false),
        Line::Attempt(tried) => (Given { seat: tried.seat, command: tried.command.clone() }, true),
        Line::Blank | Line::Comment(_) => return Err(ReplayError::trouble("a comment fails no check")),
    };
    let count = cut.entries().count() - usize::from(!attempt);
    let shows = format!("`{} {}` fails the check in the same way", given.seat, given.command);
    let state = source.until(count).state()?;
    let condition = SameAnswer::new(given, attempt, state.as_ref());
    let Some(shrinker) = Shrinker::new(&source, count, condition, progress)? else {
        return Err(ReplayError::trouble("the rules give one answer in the log and another in a copy of it"));
    };
    let mut least = shrinker.shrink()?.into_least(shows)?;
    let number = least.replay.closing.take().map_or(1, |closing| closing.count + 1);
    least.replay.lines.push(match line {
        Line::Entry(entry) => Line::Entry(EntryLine { seq: number, hash: None, ..entry }),
        line => line,
    });
    Ok(least)
}

/// Keeps all of the log up to the entry at which the check fails.
fn cut_off(replay: &Replay, cut: Replay, entry: &EntryLine, reason: &str) -> Least {
    Least {
        replay: cut,
        shows: format!("`{} {}` fails the check in the same way", entry.seat, entry.command),
        remarks: vec![format!("{reason}, so nothing before it can be left out")],
        before: replay.entries().count() as u64,
        tries: 0,
    }
}

fn nothing_to_shrink(mismatch: &Mismatch) -> ReplayError {
    if matches!(mismatch.kind, MismatchKind::NotDeterministic | MismatchKind::NotStorable) {
        return ReplayError::negative(format!("{}, which is a fault of the rules", mismatch.headline()))
            .hint("`--still 'turnfold check'` finds the smallest log that shows it");
    }
    ReplayError::negative(format!("{}, which no entry causes", mismatch.headline()))
        .hint(format!("`turnfold bless {}` writes it anew", mismatch.file))
}
