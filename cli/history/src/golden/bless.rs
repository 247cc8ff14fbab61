//! Blesses replays: writes what the rules compute into them.

mod change;

use turnfold_core::{Outcome, Step};

use crate::compare::divergence::Divergence;
use crate::error::ReplayError;
use crate::history::entry::{Attempt, LogEntry};
use crate::tfl::{FoldObserver, Replay, ReplayLine, TflError};

pub use change::{Change, RulesChange};

impl Replay {
    /// Fills in every outcome, every hash and the closing line, and writes commands canonically.
    ///
    /// Header, comments, blank lines and order stay. Blessing a blessed replay changes nothing. An entry that the rules
    /// reject and an attempt that they accept are errors, because the file then records something false.
    ///
    /// # Errors
    /// [`TflError`] with the line and column.
    ///
    /// # Panics
    /// Never, because the fold shows every entry and attempt.
    pub fn bless(&self) -> Result<Self, TflError> {
        let mut state = self.start()?;
        let mut scribe = Scribe::default();
        self.fold(state.as_mut(), &mut scribe).map_err(|error| self.locate(&error))?;
        let Scribe { entries, attempts } = scribe;
        let mut entries = entries.into_iter();
        let mut attempts = attempts.into_iter();
        let mut blessed = Self { lines: Vec::with_capacity(self.lines.len()), closing: None, ..self.clone() };
        for (number, line) in self.numbered_lines() {
            blessed.lines.push(match line {
                ReplayLine::Blank | ReplayLine::Comment(_) => line.clone(),
                ReplayLine::Entry(_) => {
                    ReplayLine::Entry(entries.next().expect("the fold showed every entry"))
                }
                ReplayLine::Attempt(attempt) => {
                    let outcome = attempts.next().expect("the fold judged every attempt");
                    if !matches!(outcome, Outcome::Rejected(_)) {
                        let Attempt { seat, command, .. } = attempt;
                        let message = format!(
                            "expected a command that is not accepted, found one that is ({outcome}); \
                             if that is meant, write `SEQ {seat} {command}`"
                        );
                        return Err(TflError::new(&self.file, (number, 1), message));
                    }
                    ReplayLine::Attempt(Attempt { outcome: Some(outcome), ..attempt.clone() })
                }
            });
        }
        blessed.close(state.state_hash());
        Ok(blessed)
    }

    /// Fills in what a replay leaves out. Whatever it records must be true.
    ///
    /// # Errors
    /// [`ReplayError::Untrue`], and the errors of [`bless`](Self::bless).
    pub fn bless_if_true(&self) -> Result<Self, ReplayError> {
        if self.closing.is_some_and(|closing| closing.header != self.header.mark()) {
            return Err(untrue(self, None, "the header is not the one that was blessed"));
        }
        let blessed = self.bless()?;
        for ((line, recorded), computed) in self.numbered_entries().zip(blessed.entries()) {
            if Divergence::contradiction(recorded, computed).is_some() {
                let what = format!("entry {} does not do what the file says", recorded.seq);
                return Err(untrue(self, Some(line), &what));
            }
        }
        if self.closing.is_some() && self.closing != blessed.closing {
            return Err(untrue(self, None, "the closing line is not that of its entries"));
        }
        Ok(blessed)
    }
}

fn untrue(replay: &Replay, line: Option<usize>, what: &str) -> ReplayError {
    ReplayError::Untrue { file: replay.file.clone(), line, what: what.into() }
}

#[derive(Default)]
struct Scribe {
    entries: Vec<LogEntry>,
    attempts: Vec<Outcome>,
}

impl FoldObserver for Scribe {
    fn entry(&mut self, step: &mut dyn Step) {
        self.entries.push(LogEntry::of(step));
    }

    fn attempt(&mut self, _line: usize, _attempt: &Attempt, outcome: Outcome) {
        self.attempts.push(outcome);
    }
}
