//! Blessing: writing what the rules say into a replay.

use turnfold_core::{Rejected, Step, StepOutcome};

use super::fold::{Witness, outcome_text};
use super::{AttemptLine, EntryLine, Line, Replay, TflError};

/// Fills in every outcome, hash and the closing line, and writes commands canonically.
///
/// Header, comments, blank lines and order stay as they are. Blessing a blessed replay changes nothing. An entry
/// that the rules reject and an attempt that they accept are errors: such a file says what is not so.
pub(crate) fn bless(replay: &Replay) -> Result<Replay, TflError> {
    let mut state = replay.start()?;
    let mut scribe = Scribe::default();
    replay.fold(state.as_mut(), &mut scribe).map_err(|error| replay.locate(&error))?;
    let Scribe { entries, attempts } = scribe;
    let (mut entries, mut attempts) = (entries.into_iter(), attempts.into_iter());
    let mut blessed =
        Replay { lines: Vec::with_capacity(replay.lines.len()), closing: None, ..replay.clone() };
    for (number, line) in replay.numbered_lines() {
        blessed.lines.push(match line {
            Line::Blank | Line::Comment(_) => line.clone(),
            Line::Entry(_) => Line::Entry(entries.next().expect("the fold showed every entry")),
            Line::Attempt(attempt) => {
                let code = attempts.next().expect("the fold judged every attempt");
                let code = code.map_err(|outcome| accepted(replay, number, attempt, &outcome))?;
                Line::Attempt(AttemptLine { code: Some(code.into()), ..attempt.clone() })
            }
        });
    }
    blessed.close(state.state_hash());
    Ok(blessed)
}

fn accepted(replay: &Replay, number: usize, attempt: &AttemptLine, outcome: &str) -> TflError {
    let AttemptLine { seat, command, .. } = attempt;
    let message = format!(
        "expected a command that is not accepted, found one that is ({outcome}); if that is meant, write `SEQ {seat} {command}`"
    );
    TflError::new(&replay.file, (number, 1), message)
}

/// Takes down what the rules say.
#[derive(Default)]
struct Scribe {
    entries: Vec<EntryLine>,
    /// The rejection's name, or else what would become of the command.
    attempts: Vec<Result<&'static str, String>>,
}

impl Witness for Scribe {
    fn entry(&mut self, step: &mut dyn Step) {
        self.entries.push(EntryLine::of(step));
    }

    fn attempt(&mut self, _line: usize, _attempt: &AttemptLine, verdict: Result<StepOutcome, Rejected>) {
        self.attempts.push(match verdict {
            Ok(StepOutcome::Applied) => Err("applied".into()),
            Ok(StepOutcome::Ignored { reason, .. }) => Err(format!("ignored {reason}")),
            Err(rejected) => Ok(rejected.code),
        });
    }
}

impl EntryLine {
    /// Makes the canonical line of an entry just folded.
    pub(super) fn of(step: &mut dyn Step) -> Self {
        Self {
            seq: step.seq(),
            seat: step.seat(),
            command: step.command(),
            outcome: Some(outcome_text(step)),
            hash: Some(format!("{:.16}", step.state_hash())),
        }
    }
}
