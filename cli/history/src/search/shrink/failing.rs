//! Finds the smallest log that still fails the check in the same way.

use super::goal::{Goal, answer_to};
use super::kept::Given;
use super::search::Least;
use super::shrinker::Shrinker;
use crate::compare::DivergenceKind;
use crate::error::ReplayError;
use crate::golden::Mismatch;
use crate::history::History;
use crate::history::entry::LogEntry;
use crate::tfl::{Replay, ReplayLine};

/// Shrinks a replay file that fails `check`.
///
/// The line at which the check fails stays, with what the file records. The entries before it shrink while this build
/// gives the same answer to that line. Their outcomes are computed again, because the file has those of another log. A
/// state hash depends on all entries before it, and a seeded roll on all rolls before it. If one of these differs,
/// nothing is left out.
///
/// Returns the smallest log, and the seat and command that fail.
///
/// # Errors
/// [`ReplayError::Passes`], [`ReplayError::FaultOfRules`] and [`ReplayError::NoEntryFails`] if there is nothing to
/// shrink, [`ReplayError::NotRepeatable`] if the rules answer differently the second time, and errors of reading the
/// file.
pub fn shrink_failing(
    replay: &Replay,
    progress: &mut dyn FnMut(usize, u64),
) -> Result<(Least, String), ReplayError> {
    let Some(mismatch) = replay.check()?.difference else {
        return Err(ReplayError::Passes(replay.file.clone()));
    };
    let kind = mismatch.kind();
    let cut = replay.until_line(mismatch.line);
    let Some(line) = cut.lines.last().cloned() else { return Err(nothing_to_shrink(&mismatch)) };
    let given = match &line {
        ReplayLine::Entry(entry) => Given { seat: entry.seat, command: entry.command.to_string() },
        ReplayLine::Attempt(tried) => Given { seat: tried.seat, command: tried.command.clone() },
        _ => return Err(nothing_to_shrink(&mismatch)),
    };
    let what = format!("{} {}", given.seat, given.command);
    let reason = match kind {
        DivergenceKind::Outcome | DivergenceKind::Rejected | DivergenceKind::Attempt => {
            return Ok((before_line(replay, &cut, line, given, progress)?, what));
        }
        DivergenceKind::StateHash => "only the state hash differs, which stands for all that went before",
        DivergenceKind::WrongRoll => "the seeded roll differs, which depends on the rolls before it",
        _ => return Err(nothing_to_shrink(&mismatch)),
    };
    let remarks = vec![format!("{reason}, so nothing before it can be left out")];
    let before = replay.entries().count() as u64;
    Ok((Least { replay: cut, remarks, before, tries: 0 }, what))
}

fn before_line(
    replay: &Replay,
    cut: &Replay,
    line: ReplayLine,
    given: Given,
    progress: &mut dyn FnMut(usize, u64),
) -> Result<Least, ReplayError> {
    let source = History::of_replay(replay.file.as_ref(), replay)?;
    let is_attempt = matches!(line, ReplayLine::Attempt(_));
    let count = cut.entries().count() - usize::from(!is_attempt);
    let state = source.until(count).state()?;
    let answer = answer_to(&given, is_attempt, state.as_ref());
    let mut goal: Goal<'_, ReplayError> = Goal::Answered { given, is_attempt, answer };
    let Some(shrinker) = Shrinker::new(&source, count, &mut goal, progress)? else {
        return Err(ReplayError::NotRepeatable);
    };
    let mut least = shrinker.shrink()?;
    let seq = match least.replay.closing.take() {
        Some(closing) => closing.count + 1,
        None => 1,
    };
    least.replay.lines.push(match line {
        ReplayLine::Entry(entry) => ReplayLine::Entry(LogEntry { seq, hash: None, ..entry }),
        line => line,
    });
    Ok(least)
}

fn nothing_to_shrink(mismatch: &Mismatch) -> ReplayError {
    let headline = mismatch.headline();
    if matches!(mismatch.kind(), DivergenceKind::NotDeterministic | DivergenceKind::NotStorable) {
        return ReplayError::FaultOfRules(headline);
    }
    let is_cut_short = mismatch.kind() == DivergenceKind::CutShort;
    ReplayError::NoEntryFails { file: mismatch.file.clone(), headline, is_cut_short }
}
