//! Checking: folding a replay again and comparing what it says, up to the first difference or to the end.

use turnfold_core::{AnyRules, Digest, FoldError, Outcome, Rejected, Step, Verdict};

use super::again::Again;
use super::explain::{explain, name_rules, rolled};
use super::fold::Witness;
use super::mismatch::{Hashes, Mismatch, MismatchKind, Place};
use super::write::LogHasher;
use super::{AttemptLine, Closing, EntryLine, Replay, TflError};

/// How many of a file's differences are kept; the others are counted.
const DIFFERENCES_MAX: usize = 100;

/// The result of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// The number of entries in the file.
    pub entries: u64,
    /// The first difference.
    pub difference: Option<Box<Mismatch>>,
    /// All differences, where they were asked for.
    pub all: Option<AllDifferences>,
}

/// All differences of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AllDifferences {
    /// How many lines differ from what the rules make of them.
    pub count: u64,
    /// Those after the first, without how the states differ; entries in a row of which only the state hashes differ are
    /// one. Not more than are kept.
    pub later: Vec<Mismatch>,
    /// How many lines differ beyond those that are kept.
    pub left_out: u64,
}

/// Folds a replay and compares every outcome, hash and the closing line, up to the first difference.
///
/// Whatever comes of it must come of it again: the entries are folded a second time, and on from a state that was
/// stored half-way. So neither a pass nor a failure is an accident of one run.
///
/// A setup that cannot be started and a command that is none are errors rather than differences.
pub fn check(replay: &Replay) -> Result<Checked, TflError> {
    check_under(replay.header.rules, replay)
}

/// Checks a replay, and compares on from the first difference to the end, or to an entry that cannot be folded: each
/// line with what the rules make of it in the states that they come to, whatever the lines before say.
pub fn check_all(replay: &Replay) -> Result<Checked, TflError> {
    let rules = replay.header.rules;
    let mut checked = check_under(rules, replay)?;
    let mut all = AllDifferences::default();
    if checked.difference.is_some() {
        let entries: Vec<_> = replay.numbered_entries().collect();
        let audit = audit(rules, &replay.setup()?, replay, &entries, Some(all))?;
        all = audit.all.unwrap_or_default();
        // What is found by folding a second time is found by no single audit.
        all.count = all.count.max(1);
        all.later.iter_mut().for_each(|mismatch| name_rules(rules, mismatch));
    }
    checked.all = Some(all);
    Ok(checked)
}

/// Checks a replay under a ruleset; tests use others than the registry's.
pub(super) fn check_under(rules: &dyn AnyRules, replay: &Replay) -> Result<Checked, TflError> {
    let entries: Vec<_> = replay.numbered_entries().collect();
    let setup = replay.setup_under(rules)?;
    let auditing = || audit(rules, &setup, replay, &entries, None);
    let audit = auditing()?;
    let folded = entries.get(..audit.folded).unwrap_or_default();
    let again = Again { rules, setup: &setup, dice: &replay.header.dice, entries: folded };
    let mut difference = match again.disagreement(&audit.hash) {
        Some(disagreement) => Some(disagreement.mismatch(replay)),
        None => {
            audit.difference.map(|first| confirm(first, auditing().ok().and_then(|second| second.difference)))
        }
    };
    if let Some(mismatch) = &mut difference {
        explain(rules, replay, mismatch)?;
    }
    let count = u64::try_from(entries.len()).expect("lines in memory can be counted");
    Ok(Checked { entries: count, difference, all: None })
}

/// Requires a second comparison to find the same difference, lest it be one of two runs rather than of file and rules.
fn confirm(first: Box<Mismatch>, second: Option<Box<Mismatch>>) -> Box<Mismatch> {
    if second.as_ref() == Some(&first) {
        return first;
    }
    let told = |mismatch: &Mismatch| format!("{} ({})", mismatch.actual, mismatch.title());
    let (expected, actual) =
        (told(&first), second.map_or_else(|| "no difference".into(), |second| told(&second)));
    Box::new(Mismatch { kind: MismatchKind::NotDeterministic, expected, actual, hashes: None, ..*first })
}

/// What came of comparing once.
struct Audit {
    /// The number of entries folded.
    folded: usize,
    /// The first 16 digits of the state hash after them.
    hash: String,
    difference: Option<Box<Mismatch>>,
    all: Option<AllDifferences>,
}

fn audit(
    rules: &dyn AnyRules,
    setup: &[u8],
    replay: &Replay,
    entries: &[(usize, &EntryLine)],
    all: Option<AllDifferences>,
) -> Result<Audit, TflError> {
    let mut state = rules.start(setup).map_err(|error| replay.header.locate(&replay.file, &error))?;
    let mut auditor =
        Auditor { replay, entries, seen: 0, log: LogHasher::default(), difference: None, all, hash: None };
    if let Err(error) = replay.fold(state.as_mut(), &mut auditor) {
        auditor.stopped(&error)?;
    } else if !auditor.is_done() {
        auditor.closing(state.state_hash());
    }
    let hash = auditor.hash.unwrap_or_else(|| format!("{:.16}", state.state_hash()));
    Ok(Audit { folded: auditor.seen, hash, difference: auditor.difference, all: auditor.all })
}

/// Compares until something differs, or to the end.
struct Auditor<'a> {
    replay: &'a Replay,
    entries: &'a [(usize, &'a EntryLine)],
    /// The number of entries folded.
    seen: usize,
    log: LogHasher,
    difference: Option<Box<Mismatch>>,
    /// Gathers all differences, where they are asked for.
    all: Option<AllDifferences>,
    /// The state hash after the entry that differs, beyond which the fold may have gone.
    hash: Option<String>,
}

impl Witness for Auditor<'_> {
    fn entry(&mut self, step: &mut dyn Step) {
        if self.is_done() {
            return;
        }
        let Some(&(line, said)) = self.entries.get(self.seen) else { return };
        let actual = EntryLine::of(step);
        self.seen += 1;
        self.log.add(said);
        if *said != actual {
            if self.difference.is_none() {
                self.hash.clone_from(&actual.hash);
            }
            self.found(self.entry_mismatch(line, said, actual));
        }
    }

    fn attempt(&mut self, line: usize, attempt: &AttemptLine, verdict: Result<Verdict, Rejected>) {
        let actual = Outcome::from(&verdict).to_string();
        let (kind, expected) = match &attempt.code {
            Some(code) => (MismatchKind::Attempt, format!("rejected {code}")),
            None => (MismatchKind::Missing, "the rejection".into()),
        };
        if expected != actual {
            let AttemptLine { seat, command, .. } = attempt.clone();
            let place = Place::Attempt { after: self.count(), seat, command };
            self.found(self.mismatch(line, place, kind, (expected, actual)));
        }
    }

    fn is_done(&self) -> bool {
        self.difference.is_some() && self.all.is_none()
    }
}

impl AllDifferences {
    /// Takes a difference after the first.
    fn add(&mut self, mismatch: Mismatch) {
        if self.later.last_mut().is_some_and(|last| last.absorb(&mismatch)) {
            return;
        }
        if self.later.len() + 1 < DIFFERENCES_MAX {
            self.later.push(mismatch);
        } else {
            self.left_out += 1;
        }
    }
}

impl Auditor<'_> {
    fn found(&mut self, mismatch: Box<Mismatch>) {
        if let Some(all) = &mut self.all {
            all.count += 1;
            if self.difference.is_some() {
                all.add(*mismatch);
                return;
            }
        }
        self.difference.get_or_insert(mismatch);
    }

    fn mismatch(
        &self,
        line: usize,
        place: Place,
        kind: MismatchKind,
        sides: (String, String),
    ) -> Box<Mismatch> {
        let (expected, actual) = sides;
        let file = self.replay.file.clone();
        let (hashes, rules, dice, state) = (None, Vec::new(), None, None);
        Box::new(Mismatch {
            file,
            line,
            place,
            until: None,
            kind,
            expected,
            actual,
            hashes,
            rules,
            dice,
            state,
        })
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
        if self.is_done() {
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
            _ if self.difference.is_none() => return Err(self.replay.locate(error)),
            _ => (MismatchKind::Rejected, said.outcome.clone().unwrap_or_default(), error.to_string()),
        };
        self.found(self.mismatch(line, Place::entry(said), kind, (expected, actual)));
        Ok(())
    }

    fn closing(&mut self, state: Digest) {
        let line = self.replay.closing_line();
        let (count, log) = (self.count(), self.log.finish());
        let differs = |said: String, actual: String| (said != actual).then_some((said, actual));
        let found = match self.replay.closing {
            None => {
                let closing = Closing { count, state, log };
                let sides = ("the closing line".into(), closing.to_string());
                vec![(MismatchKind::Missing, Some(sides))]
            }
            Some(said) => vec![
                (MismatchKind::ClosingCount, differs(said.count.to_string(), count.to_string())),
                (MismatchKind::ClosingState, differs(said.state.to_string(), state.to_string())),
                (MismatchKind::ClosingLog, differs(said.log.to_string(), log.to_string())),
            ],
        };
        for (kind, sides) in found {
            if let Some(sides) = sides {
                self.found(self.mismatch(line, Place::ClosingLine, kind, sides));
            }
        }
    }
}

#[cfg(test)]
mod tests;
