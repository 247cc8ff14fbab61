//! Blesses replays: writes what the rules compute into them.

mod change;

use turnfold_core::{Outcome, Step};

use crate::compare::divergence::Divergence;
use crate::error::ReplayError;
use crate::history::entry::{Attempt, LogEntry};
use crate::tfl::{FoldObserver, Replay, ReplayLine, TflError};

pub use change::{Change, RulesChange};

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
pub fn bless(replay: &Replay) -> Result<Replay, TflError> {
    let mut state = replay.start()?;
    let mut scribe = Scribe::default();
    replay.fold(state.as_mut(), &mut scribe).map_err(|error| replay.locate(&error))?;
    let Scribe { entries, attempts } = scribe;
    let mut entries = entries.into_iter();
    let mut attempts = attempts.into_iter();
    let mut blessed =
        Replay { lines: Vec::with_capacity(replay.lines.len()), closing: None, ..replay.clone() };
    for (number, line) in replay.numbered_lines() {
        blessed.lines.push(match line {
            ReplayLine::Blank | ReplayLine::Comment(_) => line.clone(),
            ReplayLine::Entry(_) => ReplayLine::Entry(entries.next().expect("the fold showed every entry")),
            ReplayLine::Attempt(attempt) => {
                let outcome = attempts.next().expect("the fold judged every attempt");
                if !matches!(outcome, Outcome::Rejected(_)) {
                    let Attempt { seat, command, .. } = attempt;
                    let message = format!(
                        "expected a command that is not accepted, found one that is ({outcome}); \
                         if that is meant, write `SEQ {seat} {command}`"
                    );
                    return Err(TflError::new(&replay.file, (number, 1), message));
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
/// [`ReplayError::Untrue`], and the errors of [`bless`].
pub fn bless_if_true(replay: &Replay) -> Result<Replay, ReplayError> {
    if replay.closing.is_some_and(|closing| closing.header != replay.header.mark()) {
        return Err(untrue(replay, None, "the header is not the one that was blessed"));
    }
    let blessed = bless(replay)?;
    for ((line, recorded), computed) in replay.numbered_entries().zip(blessed.entries()) {
        if Divergence::contradiction(recorded, computed).is_some() {
            let what = format!("entry {} does not do what the file says", recorded.seq);
            return Err(untrue(replay, Some(line), &what));
        }
    }
    if replay.closing.is_some() && replay.closing != blessed.closing {
        return Err(untrue(replay, None, "the closing line is not that of its entries"));
    }
    Ok(blessed)
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
