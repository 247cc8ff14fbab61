//! What a shrunk log must still show.

use std::marker::PhantomData;

use turnfold_core::{AnyState, CommandSource, DicePolicy, FoldError, Logged, Outcome, Rejected, Seat};

use super::kept::Given;
use crate::error::ReplayError;
use crate::history::History;
use crate::search::bisect::Judgment;
use crate::search::condition::{Condition, Survey};
use crate::tfl::Replay;

/// The commands of a log, each with its seat.
pub(super) type Log<'a> = dyn Iterator<Item = (Seat, &'a str)> + 'a;

/// Decides whether a log shows what is looked for.
pub(super) trait Goal {
    /// What can go wrong.
    type Error: From<ReplayError>;

    /// Returns `true` if the log, which leads to this state, shows it.
    fn shows(&mut self, log: &mut Log<'_>, state: &dyn AnyState) -> Result<bool, Self::Error>;

    /// Returns `true` if the state alone shows it, so that a log may end there. States that are equal give one answer.
    fn seen_in(&mut self, _state: &dyn AnyState) -> bool {
        false
    }
}

/// A condition on a seat's view becomes true.
pub(super) struct When<'a, E> {
    condition: &'a Condition,
    seat: Seat,
    survey: Survey,
    error: PhantomData<E>,
}

impl<'a, E> When<'a, E> {
    pub(super) fn new(condition: &'a Condition, seat: Seat) -> Self {
        Self { condition, seat, survey: Survey::default(), error: PhantomData }
    }

    /// Requires that the condition makes sense, before it is said not to be there; `setup` is the state before the
    /// first entry.
    pub(super) fn check(&mut self, setup: &dyn AnyState) -> Result<(), ReplayError> {
        self.condition.ask(&|path| setup.view_at(self.seat, path), &mut self.survey);
        Ok(self.condition.check(&self.survey)?)
    }
}

impl<E: From<ReplayError>> Goal for When<'_, E> {
    type Error = E;

    fn shows(&mut self, _log: &mut Log<'_>, state: &dyn AnyState) -> Result<bool, E> {
        Ok(self.seen_in(state))
    }

    fn seen_in(&mut self, state: &dyn AnyState) -> bool {
        self.condition.ask(&|path| state.view_at(self.seat, path), &mut self.survey)
    }
}

/// A judge still calls the log bad.
pub(super) struct StillBad<'a, E> {
    pub(super) source: &'a History,
    pub(super) judge: &'a mut dyn FnMut(&Replay) -> Result<Judgment, E>,
}

impl<E: From<ReplayError>> Goal for StillBad<'_, E> {
    type Error = E;

    fn shows(&mut self, log: &mut Log<'_>, _state: &dyn AnyState) -> Result<bool, E> {
        let candidate = self.source.with_commands(log).to_replay()?;
        Ok((self.judge)(&candidate)? == Judgment::Yes)
    }
}

/// The rules still give the same answer to a command after the log.
pub(super) struct SameAnswer {
    given: Given,
    /// Whether the command is only tried, as attempts are.
    is_attempt: bool,
    answer: Result<Outcome, FoldError>,
}

impl SameAnswer {
    /// Takes the answer that the rules give in this state.
    pub(super) fn new(given: Given, is_attempt: bool, state: &dyn AnyState) -> Self {
        let answer = answer(&given, is_attempt, state);
        Self { given, is_attempt, answer }
    }
}

impl Goal for SameAnswer {
    type Error = ReplayError;

    fn shows(&mut self, _log: &mut Log<'_>, state: &dyn AnyState) -> Result<bool, ReplayError> {
        Ok(answer(&self.given, self.is_attempt, state) == self.answer)
    }
}

/// Returns what the rules say to a command.
fn answer(given: &Given, is_attempt: bool, state: &dyn AnyState) -> Result<Outcome, FoldError> {
    let judged = || Outcome::from(&state.judge(given.seat, &given.command));
    if is_attempt {
        return Ok(judged());
    }
    let entry = Logged { seq: 1, seat: given.seat, command: CommandSource::Text(&given.command) };
    let mut outcome = None;
    match state.fork().fold(&[entry], &DicePolicy::Recorded, &mut |step| outcome = Some(step.outcome())) {
        Ok(()) => Ok(outcome.unwrap_or_else(judged)),
        Err(FoldError::Rejected { code, message, .. }) => Ok(Outcome::from(&Rejected { code, message })),
        Err(error) => Err(error),
    }
}
