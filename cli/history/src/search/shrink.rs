//! Shrinks a log to the smallest one that still shows something.
//!
//! Delta debugging after A. Zeller and R. Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", IEEE
//! Transactions on Software Engineering 28(2), 2002. Parts of the log are left out, large ones first. If the rest still
//! shows it, the rest replaces the log. The parts are rounds, then turns, then single entries; last, the arguments that
//! remain are made simpler. All of this repeats until nothing more can be left out or made simpler. So the result is
//! 1-minimal: every entry is needed. In a short log, no two entries can be left out either.
//!
//! When a part is left out, the rest is folded again, and entries that the rules now reject go too. Rolls keep their
//! values. If these are still the values of the seed, the dice stay seeded; otherwise the rolls become recorded ones.

mod arguments;
mod kept;
mod shrinker;
#[cfg(test)]
mod tests;

use turnfold_core::{AnyState, CommandSource, DicePolicy, FoldError, Logged, Outcome, Seat};

use super::bisect::{Judgment, Question};
use super::condition::{Condition, Survey};
use crate::compare::DivergenceKind;
use crate::error::ReplayError;
use crate::golden::Mismatch;
use crate::history::entry::LogEntry;
use crate::history::{History, require_rules};
use crate::tfl::{Replay, ReplayLine};
use crate::viewer::Viewer;

use kept::Given;
use shrinker::Shrinker;

/// The result of shrinking.
pub enum Shrinking {
    /// The whole log does not show it.
    Never,
    /// The setup shows it already, so no entry is needed.
    InSetup,
    /// The smallest log that was found.
    Least(Box<Least>),
}

/// The smallest replay that shows something.
pub struct Least {
    /// The replay.
    pub replay: Replay,
    /// Remarks for the reader of the replay.
    pub remarks: Vec<String>,
    /// The number of entries before shrinking.
    pub before: u64,
    /// The number of logs that were tried.
    pub tries: u64,
}

/// Shrinks a log while it shows something. A condition must become true in the view of `viewer`; a judge must rule yes.
///
/// # Errors
/// [`ReplayError::Refused`] for a recording, [`ReplayError::Condition`] for a condition that makes no sense in the
/// view, any error of folding the history, and the errors of the judge.
pub fn shrink<E: From<ReplayError>>(
    history: &History,
    question: Question<'_, E>,
    viewer: Viewer,
    progress: &mut dyn FnMut(usize, u64),
) -> Result<Shrinking, E> {
    require_rules(&*history.rules)?;
    let mut goal = match question {
        Question::Holds(condition) => Goal::Holds { condition, viewer, survey: Survey::default() },
        Question::Judged(judge) => Goal::Judged { source: history, judge },
    };
    let mut shrinking = Shrinking::Never;
    if let Some(mut shrinker) = Shrinker::new(history, history.entries.len(), &mut goal, progress)? {
        if !shrinker.needs_no_entry()? {
            return Ok(Shrinking::Least(Box::new(shrinker.shrink()?)));
        }
        shrinking = Shrinking::InSetup;
    }
    // Before a condition is reported as never true, it must make sense in some view.
    goal.seen_in(history.start()?.as_ref());
    if let Goal::Holds { survey, .. } = goal {
        survey.check().map_err(ReplayError::from)?;
    }
    Ok(shrinking)
}

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
    let cut = replay.until_line(mismatch.line);
    let Some(line) = cut.lines.last().cloned() else { return Err(nothing_to_shrink(&mismatch)) };
    let given = match &line {
        ReplayLine::Entry(entry) => Given { seat: entry.seat, command: entry.command.to_string() },
        ReplayLine::Attempt(tried) => Given { seat: tried.seat, command: tried.command.clone() },
        _ => return Err(nothing_to_shrink(&mismatch)),
    };
    let what = format!("{} {}", given.seat, given.command);
    let all_needed = match mismatch.kind() {
        DivergenceKind::Outcome | DivergenceKind::Rejected | DivergenceKind::Attempt => None,
        DivergenceKind::StateHash => {
            Some("only the state hash differs, which stands for all that went before")
        }
        DivergenceKind::WrongRoll => Some("the seeded roll differs, which depends on the rolls before it"),
        _ => return Err(nothing_to_shrink(&mismatch)),
    };
    if let Some(reason) = all_needed {
        let remarks = vec![format!("{reason}, so nothing before it can be left out")];
        let before = replay.entries().count() as u64;
        return Ok((Least { replay: cut, remarks, before, tries: 0 }, what));
    }
    let source = History::of_replay(replay.file.as_ref(), replay)?;
    let is_attempt = matches!(line, ReplayLine::Attempt(_));
    let count = cut.entries().count() - usize::from(!is_attempt);
    let answer = answer_to(&given, is_attempt, source.until(count).state()?.as_ref());
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
    Ok((least, what))
}

fn nothing_to_shrink(mismatch: &Mismatch) -> ReplayError {
    let headline = mismatch.headline();
    if matches!(mismatch.kind(), DivergenceKind::NotDeterministic | DivergenceKind::NotStorable) {
        return ReplayError::FaultOfRules(headline);
    }
    let is_cut_short = mismatch.kind() == DivergenceKind::CutShort;
    ReplayError::NoEntryFails { file: mismatch.file.clone(), headline, is_cut_short }
}

/// What the log must still show.
enum Goal<'a, E> {
    /// A condition on a view becomes true.
    Holds { condition: &'a Condition, viewer: Viewer, survey: Survey },
    /// A judge still calls the log bad.
    Judged { source: &'a History, judge: &'a mut dyn FnMut(&Replay) -> Result<Judgment, E> },
    /// The rules still give this answer to a command after the log: as an entry, or as an attempt.
    Answered { given: Given, is_attempt: bool, answer: Result<Outcome, FoldError> },
}

impl<E: From<ReplayError>> Goal<'_, E> {
    fn shows<'c>(
        &mut self,
        log: impl Iterator<Item = (Seat, &'c str)>,
        state: &dyn AnyState,
    ) -> Result<bool, E> {
        match self {
            Self::Holds { .. } => Ok(self.seen_in(state)),
            Self::Judged { source, judge } => {
                Ok(judge(&source.with_commands(log).to_replay()?)? == Judgment::Yes)
            }
            Self::Answered { given, is_attempt, answer } => {
                Ok(answer_to(given, *is_attempt, state) == *answer)
            }
        }
    }

    /// Returns `true` if the state alone shows it, so that a log may end there. Equal states give the same answer.
    fn seen_in(&mut self, state: &dyn AnyState) -> bool {
        let Self::Holds { condition, viewer, survey } = self else { return false };
        condition.ask(&|path| viewer.field(state, path), survey)
    }
}

fn answer_to(given: &Given, is_attempt: bool, state: &dyn AnyState) -> Result<Outcome, FoldError> {
    if is_attempt {
        return Ok(Outcome::from(&state.judge(given.seat, &given.command)));
    }
    let entry = Logged { seq: 1, seat: given.seat, command: CommandSource::Text(&given.command) };
    let mut outcome = None;
    match state.fork().fold(&[entry], &DicePolicy::Recorded, &mut |step| outcome = Some(step.outcome())) {
        Ok(()) => Ok(outcome.expect("a fold that succeeds shows its entry")),
        Err(FoldError::Rejected { rejected, .. }) => Ok(Outcome::from(&*rejected)),
        Err(error) => Err(error),
    }
}
