//! Folding a replay: entries in runs, attempts judged where they stand.

use turnfold_core::{AnyState, CommandSource, FoldError, Logged, Rejected, Step, Verdict};

use super::{AttemptLine, EntryLine, Line, Replay};

/// Watches a replay being folded.
pub(super) trait Witness {
    /// Sees an entry.
    fn entry(&mut self, step: &mut dyn Step);

    /// Sees an attempt and what the rules say to it.
    fn attempt(&mut self, line: usize, attempt: &AttemptLine, verdict: Result<Verdict, Rejected>);

    /// Tells whether it has seen enough; asked between runs of entries.
    fn is_done(&self) -> bool {
        false
    }
}

impl EntryLine {
    /// Gives the entry as the fold takes it.
    pub fn logged(&self) -> Logged<'_> {
        Logged { seq: self.seq, seat: self.seat, command: CommandSource::Text(&self.command) }
    }
}

impl Replay {
    /// Folds the replay into `state`: one call for each run of entries between attempts.
    pub(super) fn fold(&self, state: &mut dyn AnyState, witness: &mut impl Witness) -> Result<(), FoldError> {
        let mut run: Vec<Logged<'_>> = Vec::with_capacity(self.lines.len());
        for (number, line) in self.numbered_lines() {
            match line {
                Line::Blank | Line::Comment(_) => {}
                Line::Entry(entry) => run.push(entry.logged()),
                Line::Attempt(attempt) => {
                    state.fold(&run, &self.header.dice, &mut |step| witness.entry(step))?;
                    run.clear();
                    if witness.is_done() {
                        return Ok(());
                    }
                    witness.attempt(number, attempt, state.judge(attempt.seat, &attempt.command));
                    if witness.is_done() {
                        return Ok(());
                    }
                }
            }
        }
        state.fold(&run, &self.header.dice, &mut |step| witness.entry(step))
    }
}
