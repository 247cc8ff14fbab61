//! Checking: folding a replay again and comparing what it says, up to the first difference.

use serde::Serialize;
use turnfold_core::{AnyState, Digest, FoldError, Logged, Rejected, Seat, Step, StepOutcome};

use super::fold::Witness;
use super::write::LogHasher;
use super::{AttemptLine, Closing, EntryLine, Replay, TflError};

/// The result of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Checked {
    /// The number of entries in the file.
    pub(crate) entries: u64,
    /// The first difference.
    pub(crate) difference: Option<Box<Mismatch>>,
}

/// Where a replay and the rules disagree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mismatch {
    pub(crate) file: String,
    /// The line in the file, from 1.
    pub(crate) line: usize,
    pub(crate) place: Place,
    pub(crate) kind: MismatchKind,
    /// What the file says.
    pub(crate) expected: String,
    /// What the rules say.
    pub(crate) actual: String,
    /// The state hashes after the entry, where they differ too.
    pub(crate) hashes: Option<Hashes>,
    /// The host's views around an entry.
    pub(crate) views: Option<Views>,
}

/// What stands on the line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Entry {
        seq: u64,
        seat: Seat,
        /// The command as the file writes it.
        command: String,
    },
    Attempt {
        /// The entry before it, or 0.
        after: u64,
        seat: Seat,
        command: String,
    },
    ClosingLine,
}

/// In what a replay and the rules disagree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum MismatchKind {
    /// The file lacks an outcome, a hash or the closing line.
    Missing,
    /// The command is not written in its canonical form.
    NotCanonical,
    /// The outcome.
    Outcome,
    /// The state hash after an entry whose outcome agrees.
    StateHash,
    /// The rules reject an entry.
    Rejected,
    /// A roll that is not the one of the seed.
    WrongRoll,
    /// An attempt is accepted, or rejected for another reason.
    Attempt,
    /// The number of entries in the closing line.
    ClosingCount,
    /// The state hash in the closing line.
    ClosingState,
    /// The log digest in the closing line.
    ClosingLog,
}

/// Two state hashes, 16 digits each.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Hashes {
    pub(crate) expected: String,
    pub(crate) actual: String,
}

/// The host's views before and after an entry, as JSON documents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Views {
    pub(crate) before: String,
    /// Absent when the entry cannot be folded.
    pub(crate) after: Option<String>,
}

/// Folds a replay and compares every outcome, hash and the closing line, up to the first difference.
///
/// A setup that cannot be started and a command that is none are errors rather than differences.
pub(crate) fn check(replay: &Replay) -> Result<Checked, TflError> {
    let entries: Vec<_> = replay.numbered_entries().collect();
    let mut state = replay.start()?;
    let mut auditor =
        Auditor { replay, entries: &entries, seen: 0, log: LogHasher::default(), difference: None };
    if let Err(error) = replay.fold(state.as_mut(), &mut auditor) {
        auditor.stopped(&error)?;
    }
    if auditor.difference.is_none() {
        auditor.closing(state.state_hash());
    }
    let mut difference = auditor.difference;
    if let Some(mismatch) = &mut difference {
        mismatch.views = views(replay, mismatch)?;
    }
    let count = u64::try_from(entries.len()).expect("lines in memory can be counted");
    Ok(Checked { entries: count, difference })
}

/// Folds up to the entry of a mismatch once more, for the views around it.
fn views(replay: &Replay, mismatch: &Mismatch) -> Result<Option<Views>, TflError> {
    let shows_change = !matches!(mismatch.kind, MismatchKind::Missing | MismatchKind::NotCanonical);
    let Place::Entry { seq, .. } = mismatch.place else { return Ok(None) };
    if !shows_change {
        return Ok(None);
    }
    let log: Vec<Logged<'_>> = replay.entries().map(EntryLine::logged).collect();
    let (before, rest) = log.split_at(log.partition_point(|logged| logged.seq < seq));
    let mut state = replay.start()?;
    let fold =
        |state: &mut dyn AnyState, log: &[Logged<'_>]| state.fold(log, &replay.header.dice, &mut |_| {});
    fold(state.as_mut(), before).map_err(|error| replay.locate(&error))?;
    let before = state.view(Seat::Host);
    let after =
        rest.get(..1).filter(|entry| fold(state.as_mut(), entry).is_ok()).map(|_| state.view(Seat::Host));
    Ok(Some(Views { before, after }))
}

/// Compares until something differs.
struct Auditor<'a> {
    replay: &'a Replay,
    entries: &'a [(usize, &'a EntryLine)],
    /// The number of entries folded.
    seen: usize,
    log: LogHasher,
    difference: Option<Box<Mismatch>>,
}

impl Witness for Auditor<'_> {
    fn entry(&mut self, step: &mut dyn Step) {
        if self.difference.is_some() {
            return;
        }
        let Some(&(line, said)) = self.entries.get(self.seen) else { return };
        let actual = EntryLine::of(step);
        self.seen += 1;
        if *said == actual {
            self.log.add(said);
        } else {
            self.difference = Some(self.entry_mismatch(line, said, actual));
        }
    }

    fn attempt(&mut self, line: usize, attempt: &AttemptLine, verdict: Result<StepOutcome, Rejected>) {
        let actual = match verdict {
            Ok(StepOutcome::Applied) => "applied".into(),
            Ok(StepOutcome::Ignored { reason, .. }) => format!("ignored {reason}"),
            Err(rejected) => format!("rejected {}", rejected.code),
        };
        let (kind, expected) = match &attempt.code {
            Some(code) => (MismatchKind::Attempt, format!("rejected {code}")),
            None => (MismatchKind::Missing, "the rejection".into()),
        };
        if expected != actual {
            let AttemptLine { seat, command, .. } = attempt.clone();
            let place = Place::Attempt { after: self.count(), seat, command };
            self.difference = Some(self.mismatch(line, place, kind, (expected, actual)));
        }
    }

    fn is_done(&self) -> bool {
        self.difference.is_some()
    }
}

impl Auditor<'_> {
    fn mismatch(
        &self,
        line: usize,
        place: Place,
        kind: MismatchKind,
        sides: (String, String),
    ) -> Box<Mismatch> {
        let (expected, actual) = sides;
        let file = self.replay.file.clone();
        Box::new(Mismatch { file, line, place, kind, expected, actual, hashes: None, views: None })
    }

    /// Gives the number of entries folded.
    fn count(&self) -> u64 {
        u64::try_from(self.seen).expect("lines in memory can be counted")
    }

    fn entry_mismatch(&self, line: usize, said: &EntryLine, actual: EntryLine) -> Box<Mismatch> {
        let (outcome, hash) = (actual.outcome.unwrap_or_default(), actual.hash.unwrap_or_default());
        let (kind, expected, actual) = match (&said.outcome, &said.hash) {
            _ if said.command != actual.command => {
                (MismatchKind::NotCanonical, said.command.clone(), actual.command)
            }
            (Some(said), _) if *said != outcome => (MismatchKind::Outcome, said.clone(), outcome),
            (None, _) => (MismatchKind::Missing, "the outcome".into(), outcome),
            (_, None) => (MismatchKind::Missing, "the state hash".into(), hash.clone()),
            (_, Some(said)) => (MismatchKind::StateHash, said.clone(), hash.clone()),
        };
        let mut mismatch = self.mismatch(line, Place::entry(said), kind, (expected, actual));
        let expected_hash = said.hash.clone().filter(|said| *said != hash && kind == MismatchKind::Outcome);
        mismatch.hashes = expected_hash.map(|expected| Hashes { expected, actual: hash });
        mismatch
    }

    /// Takes down an entry that the fold stopped at, unless something differed before.
    fn stopped(&mut self, error: &FoldError) -> Result<(), TflError> {
        if self.difference.is_some() {
            return Ok(());
        }
        let entry = self.entries.iter().find(|(_, entry)| entry.seq == error.seq());
        let Some(&(line, said)) = entry else { return Err(self.replay.locate(error)) };
        let (kind, expected, actual) = match error {
            FoldError::Rejected { code, message, .. } => {
                let expected = said.outcome.clone().unwrap_or_else(|| "accepted".into());
                (MismatchKind::Rejected, expected, format!("rejected {code}: {message}"))
            }
            FoldError::WrongRoll { expected, found, .. } => {
                (MismatchKind::WrongRoll, rolled(found), rolled(expected))
            }
            _ => return Err(self.replay.locate(error)),
        };
        self.difference = Some(self.mismatch(line, Place::entry(said), kind, (expected, actual)));
        Ok(())
    }

    fn closing(&mut self, state: Digest) {
        let line = self.replay.closing_line();
        let (count, log) = (self.count(), self.log.finish());
        let differs = |said: String, actual: String| (said != actual).then_some((said, actual));
        let found = match self.replay.closing {
            None => {
                let closing = Closing { count, state, log };
                Some((MismatchKind::Missing, ("the closing line".into(), closing.to_string())))
            }
            Some(said) => [
                (MismatchKind::ClosingCount, differs(said.count.to_string(), count.to_string())),
                (MismatchKind::ClosingState, differs(said.state.to_string(), state.to_string())),
                (MismatchKind::ClosingLog, differs(said.log.to_string(), log.to_string())),
            ]
            .into_iter()
            .find_map(|(kind, sides)| sides.map(|sides| (kind, sides))),
        };
        self.difference = found.map(|(kind, sides)| self.mismatch(line, Place::ClosingLine, kind, sides));
    }
}

fn rolled(values: &[i32]) -> String {
    let values: Vec<_> = values.iter().map(ToString::to_string).collect();
    format!("rolled {}", values.join(" "))
}

impl Place {
    fn entry(entry: &EntryLine) -> Self {
        let EntryLine { seq, seat, command, .. } = entry.clone();
        Self::Entry { seq, seat, command }
    }
}

#[cfg(test)]
mod tests;
