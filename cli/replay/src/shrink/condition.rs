//! What a shrunken log must still show.

use std::rc::Rc;

use turnfold_core::{AnyState, CommandSource, DicePolicy, FoldError, Logged, Outcome, Seat};

use super::Given;
use crate::condition::{Predicate, Survey};
use crate::difference::view_of;
use crate::error::ReplayError;

/// Tells whether a log shows what is looked for.
pub trait Condition {
    /// Tells whether the log, which leads to this state, shows it.
    fn shows(&mut self, log: &[Rc<Given>], state: &dyn AnyState) -> Result<bool, ReplayError>;

    /// Tells whether the state alone shows it, so that a log may end there.
    fn seen_in(&mut self, _state: &dyn AnyState) -> bool {
        false
    }

    /// Requires that what is looked for makes sense, before it is said not to be there; `setup` is the state before
    /// the first entry.
    fn check(&mut self, _setup: &dyn AnyState) -> Result<(), ReplayError> {
        Ok(())
    }
}

impl<C: Condition> Condition for &mut C {
    fn shows(&mut self, log: &[Rc<Given>], state: &dyn AnyState) -> Result<bool, ReplayError> {
        (**self).shows(log, state)
    }

    fn seen_in(&mut self, state: &dyn AnyState) -> bool {
        (**self).seen_in(state)
    }

    fn check(&mut self, setup: &dyn AnyState) -> Result<(), ReplayError> {
        (**self).check(setup)
    }
}

/// A condition on a seat's view becomes true.
pub struct When<'a> {
    predicate: &'a Predicate,
    seat: Seat,
    survey: Survey,
}

impl<'a> When<'a> {
    pub fn new(predicate: &'a Predicate, seat: Seat) -> Self {
        Self { predicate, seat, survey: Survey::default() }
    }
}

impl Condition for When<'_> {
    fn shows(&mut self, _log: &[Rc<Given>], state: &dyn AnyState) -> Result<bool, ReplayError> {
        Ok(self.seen_in(state))
    }

    fn seen_in(&mut self, state: &dyn AnyState) -> bool {
        self.predicate.ask(&view_of(state, self.seat), &mut self.survey)
    }

    fn check(&mut self, setup: &dyn AnyState) -> Result<(), ReplayError> {
        self.seen_in(setup);
        self.predicate.check(&self.survey)
    }
}

/// The rules still give the same answer to a command after the log.
pub(super) struct SameAnswer {
    given: Given,
    /// Whether the command is only tried, as attempts are.
    attempt: bool,
    answer: String,
}

impl SameAnswer {
    /// Takes the answer that the rules give in this state.
    pub(super) fn new(given: Given, attempt: bool, state: &dyn AnyState) -> Self {
        let answer = answer(&given, attempt, state);
        Self { given, attempt, answer }
    }
}

impl Condition for SameAnswer {
    fn shows(&mut self, _log: &[Rc<Given>], state: &dyn AnyState) -> Result<bool, ReplayError> {
        Ok(answer(&self.given, self.attempt, state) == self.answer)
    }
}

/// Gives what the rules say to a command as replay files write it.
fn answer(given: &Given, attempt: bool, state: &dyn AnyState) -> String {
    if attempt {
        return Outcome::from(&state.judge(given.seat, &given.command)).to_string();
    }
    let entry = Logged { seq: 1, seat: given.seat, command: CommandSource::Text(&given.command) };
    let mut outcome = String::new();
    let folded =
        state.fork().fold(&[entry], &DicePolicy::Recorded, &mut |step| outcome = step.outcome().to_string());
    match folded {
        Ok(()) => outcome,
        Err(FoldError::Rejected { code, .. }) => format!("rejected {code}"),
        Err(error) => error.to_string(),
    }
}
