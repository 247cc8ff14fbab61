//! The goal of shrinking: what the log must still show.

use turnfold_core::{AnyState, CommandSource, DicePolicy, FoldError, Logged, Outcome, Seat};

use super::kept::Given;
use crate::error::ReplayError;
use crate::history::History;
use crate::search::bisect::Judgment;
use crate::search::condition::{Condition, Survey};
use crate::tfl::Replay;
use crate::viewer::Viewer;

pub(super) enum Goal<'a, E> {
    /// A condition on a view becomes true.
    Holds { condition: &'a Condition, viewer: Viewer, survey: Survey },
    /// A judge still calls the log bad.
    Judged { source: &'a History, judge: &'a mut dyn FnMut(&Replay) -> Result<Judgment, E> },
    /// The rules still give this answer to a command after the log: as an entry, or as an attempt.
    Answered { given: Given, is_attempt: bool, answer: Result<Outcome, FoldError> },
}

impl<E: From<ReplayError>> Goal<'_, E> {
    pub(super) fn shows<'c>(
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
    pub(super) fn seen_in(&mut self, state: &dyn AnyState) -> bool {
        let Self::Holds { condition, viewer, survey } = self else { return false };
        condition.ask(&|path| viewer.field(state, path), survey)
    }
}

pub(super) fn answer_to(given: &Given, is_attempt: bool, state: &dyn AnyState) -> Result<Outcome, FoldError> {
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
