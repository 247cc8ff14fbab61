//! Checks one replay: folds it again and compares what it records, up to the first difference or to the end.

use turnfold_core::{Digest, FoldError, Outcome, Step};

use super::again::disagreement;
use super::explain::{explain, name_rules};
use super::mismatch::Mismatch;
use crate::compare::divergence::{Claim, Divergence, DivergenceKind, Subject};
use crate::history::distrusted;
use crate::history::entry::{Attempt, LogEntry, ShortHash};
use crate::tfl::{Closing, FoldObserver, LogHasher, Replay, TflError};

/// The most differences of a file that are kept; the others are only counted.
const DIFFERENCES_MAX: usize = 100;

/// The result of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    pub(crate) entries: u64,
    /// The first difference.
    pub difference: Option<Box<Mismatch>>,
    /// All differences, if they were requested.
    pub(crate) all: Option<AllDifferences>,
}

/// All differences of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AllDifferences {
    pub(crate) count: u64,
    /// The differences after the first, without states. Consecutive entries of which only the state hash differs are
    /// one element. The length is limited; `left_out` counts the rest.
    pub later: Vec<Mismatch>,
    pub(crate) left_out: u64,
}

impl Replay {
    /// Folds a replay and compares every outcome, hash and the closing line, up to the first difference.
    ///
    /// The entries are also folded a second time, and from a state that is stored halfway. So neither a pass nor a
    /// failure is an accident of one run.
    ///
    /// A setup that cannot be started and a command that cannot be read are errors and not differences.
    ///
    /// # Errors
    /// [`TflError`] with the line and column.
    pub fn check(&self) -> Result<Checked, TflError> {
        let entries: Vec<_> = self.numbered_entries().collect();
        let count = entries.len() as u64;
        if let Some(difference) = of_header(self) {
            return Ok(Checked { entries: count, difference: Some(Box::new(difference)), all: None });
        }
        let setup = self.setup()?;
        let audit = Auditor::audit(&setup, self, &entries, None)?;
        let folded = entries.get(..audit.seen).unwrap_or_default();
        let mut difference = audit.hash.and_then(|hash| disagreement(self, &setup, folded, hash));
        if difference.is_none()
            && let Some(first) = audit.difference
        {
            let second = Auditor::audit(&setup, self, &entries, None);
            difference = Some(confirm(first, second.ok().and_then(|audit| audit.difference)));
        }
        if let Some(mismatch) = &mut difference {
            explain(self, mismatch)?;
        }
        Ok(Checked { entries: count, difference, all: None })
    }

    /// Checks a replay and continues after the first difference, to the end or to an entry that cannot be folded. Every
    /// line is compared with what the rules compute in the folded state, whatever the lines before it record.
    pub(crate) fn check_to_end(&self) -> Result<Checked, TflError> {
        let mut checked = self.check()?;
        let mut all = AllDifferences::default();
        if let Some(difference) = &checked.difference
            && difference.kind() != DivergenceKind::Header
        {
            let entries: Vec<_> = self.numbered_entries().collect();
            all = Auditor::audit(&self.setup()?, self, &entries, Some(all))?.all.unwrap_or_default();
            for mismatch in &mut all.later {
                name_rules(&*self.header.rules, mismatch);
            }
        }
        // A difference in the header or between two folds is not found by the audit itself.
        all.count = all.count.max(u64::from(checked.difference.is_some()));
        checked.all = Some(all);
        Ok(checked)
    }
}

/// Compares the header with the one that was blessed. Under another header the rules compute something else, so nothing
/// after it is compared.
fn of_header(replay: &Replay) -> Option<Mismatch> {
    let blessed = replay.closing?.header;
    let header = replay.header.mark();
    if blessed == header {
        return None;
    }
    let path = replay.header.differing(blessed);
    let line = replay.header.line_of(path);
    let subject = Subject::Header { path: path.map(String::from) };
    let recorded = Some(Claim::Header(blessed));
    let computed = Claim::Header(header);
    let divergence = Divergence::new(subject, DivergenceKind::Header, recorded, computed);
    Some(Mismatch::new(&replay.file, line, divergence))
}

/// Requires a second comparison to find the same difference. If it does not, two runs differ, and not the file and the
/// rules.
fn confirm(first: Box<Mismatch>, second: Option<Box<Mismatch>>) -> Box<Mismatch> {
    if second.as_ref() == Some(&first) {
        return first;
    }
    let computed = match second {
        Some(second) => run(&second),
        None => Claim::Run("no difference".into()),
    };
    let subject = first.divergence.subject.clone();
    let recorded = Some(run(&first));
    let divergence = Divergence::new(subject, DivergenceKind::NotDeterministic, recorded, computed);
    Box::new(Mismatch { divergence, ..*first })
}

fn run(mismatch: &Mismatch) -> Claim {
    Claim::Run(format!("{} ({})", mismatch.divergence.computed, mismatch.title()))
}

struct Auditor<'a> {
    replay: &'a Replay,
    entries: &'a [(usize, &'a LogEntry)],
    /// The number of entries folded.
    seen: usize,
    log: LogHasher,
    difference: Option<Box<Mismatch>>,
    /// All differences, if they are requested.
    all: Option<AllDifferences>,
    /// The state hash after the first entry that differs, because the fold may have gone further; otherwise after the
    /// last.
    hash: Option<ShortHash>,
}

impl FoldObserver for Auditor<'_> {
    fn entry(&mut self, step: &mut dyn Step) {
        if self.is_done() {
            return;
        }
        let Some(&(line, entry)) = self.entries.get(self.seen) else { return };
        let actual = LogEntry::of(step);
        self.seen += 1;
        self.log.add(entry);
        if let Some(divergence) = Divergence::of_entry(entry, &actual) {
            if self.difference.is_none() {
                self.hash = actual.hash;
            }
            self.found(line, divergence);
        }
    }

    fn attempt(&mut self, line: usize, attempt: &Attempt, outcome: Outcome) {
        if let Some(divergence) = Divergence::of_attempt(self.count(), attempt, outcome) {
            self.found(line, divergence);
        }
    }

    fn is_done(&self) -> bool {
        self.difference.is_some() && self.all.is_none()
    }
}

impl AllDifferences {
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

impl<'a> Auditor<'a> {
    fn audit(
        setup: &[u8],
        replay: &'a Replay,
        entries: &'a [(usize, &'a LogEntry)],
        all: Option<AllDifferences>,
    ) -> Result<Self, TflError> {
        let header = &replay.header;
        let rules = distrusted(&header.rules);
        let mut state = rules.start(setup).map_err(|error| header.locate(&replay.file, &error))?;
        let log = LogHasher::new(header);
        let mut auditor = Self { replay, entries, seen: 0, log, difference: None, all, hash: None };
        if let Err(error) = replay.fold(state.as_mut(), &mut auditor) {
            auditor.stopped(&error)?;
        } else if !auditor.is_done() {
            auditor.closing(state.state_hash());
        }
        auditor.hash.get_or_insert_with(|| state.state_hash().into());
        Ok(auditor)
    }

    fn found(&mut self, line: usize, divergence: Divergence) {
        let mismatch = Mismatch::new(&self.replay.file, line, divergence);
        if let Some(all) = &mut self.all {
            all.count += 1;
            if self.difference.is_some() {
                all.add(mismatch);
                return;
            }
        }
        self.difference.get_or_insert_with(|| Box::new(mismatch));
    }

    fn count(&self) -> u64 {
        self.seen as u64
    }

    fn stopped(&mut self, error: &FoldError) -> Result<(), TflError> {
        if self.is_done() {
            return Ok(());
        }
        let entry = self.entries.iter().find(|(_, entry)| entry.seq == error.seq());
        let Some(&(line, entry)) = entry else { return Err(self.replay.locate(error)) };
        let divergence = match Divergence::of_refusal(entry, error) {
            Some(divergence) => divergence,
            None if self.difference.is_none() => return Err(self.replay.locate(error)),
            None => {
                let outcome = entry.outcome.clone().map(Claim::Outcome);
                Divergence::new(entry, DivergenceKind::Rejected, outcome, Claim::Run(error.to_string()))
            }
        };
        self.found(line, divergence);
        Ok(())
    }

    fn closing(&mut self, state: Digest) {
        let line = self.replay.closing_line();
        let count = self.count();
        let log = self.log.finish();
        let subject = Subject::End { after: count };
        let Some(closing) = self.replay.closing else {
            let header = self.replay.header.mark();
            let computed = Claim::Closing(Closing { count, state, log, header });
            let is_cut = self.replay.is_cut_short();
            let kind = if is_cut { DivergenceKind::CutShort } else { DivergenceKind::Missing };
            return self.found(line, Divergence::new(subject, kind, None, computed));
        };
        for (kind, recorded, computed) in [
            (DivergenceKind::ClosingCount, Claim::Count(closing.count), Claim::Count(count)),
            (DivergenceKind::ClosingState, Claim::Digest(closing.state), Claim::Digest(state)),
            (DivergenceKind::ClosingLog, Claim::Digest(closing.log), Claim::Digest(log)),
        ] {
            if recorded != computed {
                self.found(line, Divergence::new(subject.clone(), kind, Some(recorded), computed));
            }
        }
    }
}

#[cfg(test)]
mod tests;
