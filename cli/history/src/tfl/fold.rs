//! Folds a replay: entries in runs, with each attempt judged between them.

use turnfold_core::{AnyState, FoldError, Logged, Outcome, Step};

use super::file::{Replay, ReplayLine};
use crate::history::entry::Attempt;

pub(crate) trait FoldObserver {
    fn entry(&mut self, step: &mut dyn Step);

    /// Receives an attempt and the outcome that the rules give it. An applied outcome has no effects, because nothing
    /// is carried out.
    fn attempt(&mut self, line: usize, attempt: &Attempt, outcome: Outcome);

    /// Returns `true` to stop the fold. It is called between runs of entries.
    fn is_done(&self) -> bool {
        false
    }
}

impl Replay {
    pub(crate) fn fold(
        &self,
        state: &mut dyn AnyState,
        observer: &mut impl FoldObserver,
    ) -> Result<(), FoldError> {
        let mut run: Vec<Logged<'_>> = Vec::with_capacity(self.lines.len());
        for (number, line) in self.numbered_lines() {
            match line {
                ReplayLine::Blank | ReplayLine::Comment(_) => {}
                ReplayLine::Entry(entry) => run.push(entry.logged()),
                ReplayLine::Attempt(attempt) => {
                    state.fold(&run, &self.header.dice, &mut |step| observer.entry(step))?;
                    run.clear();
                    if observer.is_done() {
                        return Ok(());
                    }
                    let judged = state.judge(attempt.seat, &attempt.command);
                    observer.attempt(number, attempt, Outcome::from(&judged));
                    if observer.is_done() {
                        return Ok(());
                    }
                }
            }
        }
        state.fold(&run, &self.header.dice, &mut |step| observer.entry(step))
    }
}
