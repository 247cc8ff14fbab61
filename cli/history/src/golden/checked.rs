//! Checks one replay: folds it again and compares what it records, up to the first difference or to the end. A second
//! fold must give the same, also when it resumes from a stored state. Explains the first difference.

use std::fmt::Display;

use turnfold_core::{AnyRules, AnyState, DicePolicy, Digest, FoldError, Logged, Step};

use super::mismatch::{DiceFinding, Mismatch, StateDifference, StateSides};
use crate::compare::{Claim, Difference, Divergence, DivergenceKind, Subject};
use crate::tfl::{Closing, FoldedLine, Replay, TflError};
use crate::{CommandForm, LogEntry, ShortHash, Viewer, distrusted};

/// The most differences of a file that are kept; the others are only counted.
const DIFFERENCES_MAX: usize = 100;

/// The result of a check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    pub(crate) entries: u64,
    /// The first difference.
    pub difference: Option<Box<Mismatch>>,
    /// The number of all differences, if they were requested.
    pub(crate) count: Option<u64>,
    /// The requested differences after the first, without states. Consecutive entries of which only the state hash
    /// differs are one element. The length is limited; `left_out` counts the rest.
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
        let mut checked = Checked { entries: entries.len() as u64, ..Checked::default() };
        if let Some(difference) = of_header(self) {
            checked.difference = Some(Box::new(difference));
            return Ok(checked);
        }
        let setup = self.setup()?;
        let audit = Auditor::audit(&setup, self, &entries, false)?;
        let folded = entries.get(..audit.seen).unwrap_or_default();
        let mut difference = audit.hash.and_then(|hash| disagreement(self, &setup, folded, hash));
        if difference.is_none()
            && let Some(first) = audit.checked.difference
        {
            let second = Auditor::audit(&setup, self, &entries, false);
            difference = Some(confirm(first, second.ok().and_then(|audit| audit.checked.difference)));
        }
        if let Some(mismatch) = &mut difference {
            explain(self, mismatch)?;
        }
        checked.difference = difference;
        Ok(checked)
    }

    /// Checks a replay and continues after the first difference, to the end or to an entry that cannot be folded. Every
    /// line is compared with what the rules compute in the folded state, whatever the lines before it record.
    pub(crate) fn check_to_end(&self) -> Result<Checked, TflError> {
        let mut checked = self.check()?;
        let mut count = 0;
        if let Some(difference) = &checked.difference {
            count = 1;
            // A difference in the header or between two folds is not found by the audit itself.
            if difference.kind() != DivergenceKind::Header {
                let entries: Vec<_> = self.numbered_entries().collect();
                let audited = Auditor::audit(&self.setup()?, self, &entries, true)?.checked;
                count = count.max(audited.count.unwrap_or_default());
                checked = Checked { difference: checked.difference, ..audited };
            }
        }
        for mismatch in &mut checked.later {
            name_rules(&*self.header.rules, mismatch);
        }
        Ok(Checked { count: Some(count), ..checked })
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
    let recorded = Some(Claim::text(blessed));
    let divergence = Divergence::new(subject, DivergenceKind::Header, recorded, Claim::text(header));
    Some(Mismatch::new(&replay.file, line, divergence))
}

/// Requires a second comparison to find the same difference. If it does not, two runs differ, and not the file and the
/// rules.
fn confirm(first: Box<Mismatch>, second: Option<Box<Mismatch>>) -> Box<Mismatch> {
    if second.as_ref() == Some(&first) {
        return first;
    }
    let computed = match second {
        Some(second) => claim_of(&second),
        None => Claim::text("no difference"),
    };
    let subject = first.divergence.subject.clone();
    let recorded = Some(claim_of(&first));
    let divergence = Divergence::new(subject, DivergenceKind::NotDeterministic, recorded, computed);
    Box::new(Mismatch { divergence, ..*first })
}

fn claim_of(mismatch: &Mismatch) -> Claim {
    Claim::Text(format!("{} ({})", mismatch.divergence.computed, mismatch.title()))
}

struct Auditor<'a> {
    replay: &'a Replay,
    entries: &'a [(usize, &'a LogEntry)],
    /// The number of entries folded.
    seen: usize,
    checked: Checked,
    /// The state hash after the first entry that differs, because the fold may have gone further; otherwise after the
    /// last.
    hash: Option<ShortHash>,
}

impl<'a> Auditor<'a> {
    fn audit(
        setup: &[u8],
        replay: &'a Replay,
        entries: &'a [(usize, &'a LogEntry)],
        to_end: bool,
    ) -> Result<Self, TflError> {
        let header = &replay.header;
        let rules = distrusted(&header.rules);
        let mut state = rules.start(setup).map_err(|error| header.locate(&replay.file, &error))?;
        let count = if to_end { Some(0) } else { None };
        let checked = Checked { entries: entries.len() as u64, count, ..Checked::default() };
        let mut auditor = Self { replay, entries, seen: 0, checked, hash: None };
        if let Err(error) = replay.fold(state.as_mut(), &mut |folded| auditor.take(folded)) {
            auditor.stopped(&error)?;
        } else if !auditor.is_done() {
            auditor.closing(state.state_hash());
        }
        auditor.hash.get_or_insert_with(|| state.state_hash().into());
        Ok(auditor)
    }

    /// Returns `true` after the first difference, unless all are requested.
    fn is_done(&self) -> bool {
        self.checked.difference.is_some() && self.checked.count.is_none()
    }

    fn take(&mut self, folded: FoldedLine<'_>) -> bool {
        // The fold only stops after a run of entries.
        if self.is_done() {
            return false;
        }
        match folded {
            FoldedLine::Entry(step) => {
                let Some(&(line, entry)) = self.entries.get(self.seen) else { return true };
                let actual = LogEntry::of(step);
                self.seen += 1;
                if let Some(divergence) = Divergence::of_entry(entry, &actual) {
                    if self.checked.difference.is_none() {
                        self.hash = actual.hash;
                    }
                    self.found(line, divergence);
                }
            }
            FoldedLine::Attempt(line, attempt, outcome) => {
                if let Some(divergence) = Divergence::of_attempt(attempt, outcome) {
                    self.found(line, divergence);
                }
            }
        }
        !self.is_done()
    }

    fn found(&mut self, line: usize, divergence: Divergence) {
        let mismatch = Mismatch::new(&self.replay.file, line, divergence);
        let Checked { difference, count, later, left_out, .. } = &mut self.checked;
        if let Some(count) = count {
            *count += 1;
        }
        if difference.is_none() {
            *difference = Some(Box::new(mismatch));
            return;
        }
        if later.last_mut().is_some_and(|last| last.absorb(&mismatch)) {
            return;
        }
        if later.len() + 1 < DIFFERENCES_MAX {
            later.push(mismatch);
        } else {
            *left_out += 1;
        }
    }

    fn stopped(&mut self, error: &FoldError) -> Result<(), TflError> {
        if self.is_done() {
            return Ok(());
        }
        let entry = self.entries.iter().find(|(_, entry)| entry.seq == error.seq());
        let Some(&(line, entry)) = entry else { return Err(self.replay.locate(error)) };
        let divergence = match Divergence::of_refusal(entry, error) {
            Some(divergence) => divergence,
            None if self.checked.difference.is_none() => return Err(self.replay.locate(error)),
            None => {
                let outcome = entry.outcome.clone().map(Claim::Outcome);
                Divergence::new(entry, DivergenceKind::Rejected, outcome, Claim::text(error))
            }
        };
        self.found(line, divergence);
        Ok(())
    }

    fn closing(&mut self, state: Digest) {
        let line = self.replay.closing_line();
        let count = self.checked.entries;
        let log = self.replay.log_digest();
        let Some(closing) = self.replay.closing else {
            let header = self.replay.header.mark();
            let computed = Claim::text(Closing { count, state, log, header });
            let is_cut = self.replay.is_cut_short();
            let kind = if is_cut { DivergenceKind::CutShort } else { DivergenceKind::Missing };
            return self.found(line, Divergence::new(Subject::End, kind, None, computed));
        };
        for (kind, recorded, computed) in [
            (DivergenceKind::ClosingCount, Claim::text(closing.count), Claim::text(count)),
            (DivergenceKind::ClosingState, Claim::text(closing.state), Claim::text(state)),
            (DivergenceKind::ClosingLog, Claim::text(closing.log), Claim::text(log)),
        ] {
            if recorded != computed {
                self.found(line, Divergence::new(Subject::End, kind, Some(recorded), computed));
            }
        }
    }
}

/// Folds entries, which have line numbers, a second time, and also from a state that is stored halfway. Compares both
/// with `hash`, the state hash that the first fold ended in.
///
/// Halfway, the second fold is compared with the hash in the file, because the first fold agreed with it there.
fn disagreement(
    replay: &Replay,
    setup: &[u8],
    entries: &[(usize, &LogEntry)],
    hash: ShortHash,
) -> Option<Box<Mismatch>> {
    let (head, tail) = entries.split_at(entries.len() / 2);
    let kind = DivergenceKind::NotDeterministic;
    let Ok(mut second) = replay.header.rules.start(setup) else {
        return Some(fold_mismatch(replay, &[], kind, &hash, "no start"));
    };
    let middle_hash = head.last().and_then(|(_, entry)| entry.hash);
    if let Err(other) = refold(replay, second.as_mut(), head, middle_hash) {
        let first = match middle_hash {
            Some(hash) => hash.to_string(),
            None => "entries that can be folded".into(),
        };
        return Some(fold_mismatch(replay, head, kind, &first, &other));
    }
    let stored = second.state_bytes();
    let rolls = second.rolls();
    if let Err(other) = refold(replay, second.as_mut(), tail, Some(hash)) {
        return Some(fold_mismatch(replay, entries, kind, &hash, &other));
    }
    let resumed = match replay.header.rules.resume(&stored, rolls) {
        Ok(mut state) => refold(replay, state.as_mut(), tail, Some(hash)),
        Err(error) => Err(error.to_string()),
    };
    let other = resumed.err()?;
    Some(fold_mismatch(replay, entries, DivergenceKind::NotStorable, &hash, &other))
}

/// Folds entries and requires this state hash after them. The error is the other hash, or why the fold failed.
fn refold(
    replay: &Replay,
    state: &mut dyn AnyState,
    entries: &[(usize, &LogEntry)],
    hash: Option<ShortHash>,
) -> Result<(), String> {
    let log = LogEntry::all_logged(entries.iter().map(|(_, entry)| *entry));
    state.fold(&log, &replay.header.dice, &mut |_| {}).map_err(|error| error.to_string())?;
    let other = ShortHash::from(state.state_hash());
    match hash {
        Some(hash) if hash != other => Err(other.to_string()),
        _ => Ok(()),
    }
}

fn fold_mismatch(
    replay: &Replay,
    entries: &[(usize, &LogEntry)],
    kind: DivergenceKind,
    first: &dyn Display,
    other: &str,
) -> Box<Mismatch> {
    let mut line = replay.closing_line();
    let mut subject = Subject::End;
    if let Some((at, entry)) = entries.last() {
        line = *at;
        subject = Subject::from(*entry);
    }
    let divergence = Divergence::new(subject, kind, Some(Claim::text(first)), Claim::text(other));
    Box::new(Mismatch::new(&replay.file, line, divergence))
}

fn explain(replay: &Replay, mismatch: &mut Mismatch) -> Result<(), TflError> {
    name_rules(&*replay.header.rules, mismatch);
    let kind = mismatch.kind();
    let shown =
        matches!(kind, DivergenceKind::Outcome | DivergenceKind::StateHash | DivergenceKind::WrongRoll);
    let Subject::Entry { seq, .. } = mismatch.divergence.subject else { return Ok(()) };
    if !shown {
        return Ok(());
    }
    let (before, rest): (Vec<_>, Vec<_>) = replay.entries().partition(|entry| entry.seq < seq);
    let Some(&entry) = rest.first() else { return Ok(()) };
    let mut state = replay.start()?;
    replay.fold_entries(state.as_mut(), before, &mut |_| {})?;
    let dice = &replay.header.dice;
    let explained = match kind {
        DivergenceKind::WrongRoll => wrong_roll(state.as_ref(), entry, dice, mismatch),
        _ => other_outcome(state.as_ref(), entry, dice, mismatch),
    };
    explained.map_err(|error| replay.locate(&error))
}

fn name_rules(rules: &dyn AnyRules, mismatch: &mut Mismatch) {
    for code in mismatch.divergence.codes() {
        for id in rules.rule_ids(code) {
            if !mismatch.rules.iter().any(|known| known == id) {
                mismatch.rules.push(id.into());
            }
        }
    }
}

fn other_outcome(
    before: &dyn AnyState,
    entry: &LogEntry,
    dice: &DicePolicy,
    mismatch: &mut Mismatch,
) -> Result<(), FoldError> {
    // While a roll is due, only a roll is accepted.
    if before.due_roll().is_some() {
        mismatch.dice = Some(match dice {
            DicePolicy::Recorded | DicePolicy::Fair(_) => DiceFinding::RecordedValues,
            DicePolicy::Seeded(_) => DiceFinding::OtherRules,
        });
    }
    let after = play(before, entry.logged(), dice, &mut |_| {})?;
    let mut difference = StateDifference { sides: StateSides::Equal, fields: Vec::new() };
    if entry.hash != Some(short_hash(after.as_ref())) {
        let is_before = entry.hash == Some(short_hash(before));
        difference.sides = if is_before { StateSides::ExpectedAndActual } else { StateSides::BeforeAndAfter };
        difference.fields = fields(before, after.as_ref());
    }
    mismatch.state = Some(difference);
    Ok(())
}

/// Explains a roll that is not the one of the seed. Plays the file's values as recorded ones, and then the seed's
/// values.
fn wrong_roll(
    before: &dyn AnyState,
    entry: &LogEntry,
    dice: &DicePolicy,
    mismatch: &mut Mismatch,
) -> Result<(), FoldError> {
    let mut outcome = None;
    let with_files =
        play(before, entry.logged(), &DicePolicy::Recorded, &mut |step| outcome = Some(step.outcome()))?;
    let rules_agree = entry.outcome.as_ref().is_none_or(|own| Some(own) == outcome.as_ref())
        && entry.hash.is_none_or(|own| own == short_hash(with_files.as_ref()));
    mismatch.dice =
        Some(if rules_agree { DiceFinding::OtherValues } else { DiceFinding::OtherValuesAndRules });
    let values = before.seeded_roll(dice);
    let Some(command) = values.and_then(|values| before.roll_command(values)) else { return Ok(()) };
    let seeded = LogEntry { command: CommandForm::Text(command), ..entry.clone() };
    let with_seeds = play(before, seeded.logged(), dice, &mut |_| {})?;
    mismatch.state = Some(if rules_agree {
        let fields = fields(with_files.as_ref(), with_seeds.as_ref());
        StateDifference { sides: StateSides::ExpectedAndActual, fields }
    } else {
        StateDifference { sides: StateSides::BeforeAndAfter, fields: fields(before, with_seeds.as_ref()) }
    });
    Ok(())
}

fn play(
    before: &dyn AnyState,
    entry: Logged<'_>,
    dice: &DicePolicy,
    observe: &mut dyn FnMut(&mut dyn Step),
) -> Result<Box<dyn AnyState>, FoldError> {
    let mut state = before.fork();
    state.fold(&[entry], dice, observe)?;
    Ok(state)
}

fn fields(old: &dyn AnyState, new: &dyn AnyState) -> Vec<Difference> {
    Difference::between(&Viewer::HOST.view(old), &Viewer::HOST.view(new))
}

fn short_hash(state: &dyn AnyState) -> ShortHash {
    state.state_hash().into()
}

#[cfg(test)]
mod tests;
