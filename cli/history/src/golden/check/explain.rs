//! Explains a mismatch: the rules behind it, whether dice or rules differ, and how the states differ.

use turnfold_core::{AnyRules, AnyState, DicePolicy, FoldError, Logged, Outcome, Seat};

use super::mismatch::{DiceFinding, Mismatch, StateDifference};
use crate::compare::difference::{Difference, differences, view_of};
use crate::compare::divergence::{DivergenceKind, Subject};
use crate::history::entry::{CommandForm, LogEntry, ShortHash, logged};
use crate::tfl::{Replay, TflError};

/// Adds an explanation to a mismatch.
pub(super) fn explain(replay: &Replay, mismatch: &mut Mismatch) -> Result<(), TflError> {
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
    state.fold(&logged(before), &replay.header.dice, &mut |_| {}).map_err(|error| replay.locate(&error))?;
    let scene = Scene { dice: &replay.header.dice, before: state.as_ref(), entry };
    let explained = match kind {
        DivergenceKind::WrongRoll => scene.wrong_roll(mismatch),
        _ => scene.other_outcome(mismatch),
    };
    explained.map_err(|error| replay.locate(&error))
}

/// Adds the ids of the rules behind the reasons and rejections of a mismatch.
pub(super) fn name_rules(rules: &dyn AnyRules, mismatch: &mut Mismatch) {
    for code in mismatch.divergence.codes() {
        for id in rules.rule_ids(code) {
            if !mismatch.rules.iter().any(|known| known == id) {
                mismatch.rules.push(id.into());
            }
        }
    }
}

/// The state before an entry, and the entry as the file records it.
struct Scene<'a> {
    dice: &'a DicePolicy,
    before: &'a dyn AnyState,
    entry: &'a LogEntry,
}

impl Scene<'_> {
    /// Explains an entry that the rules accept with another outcome or hash.
    fn other_outcome(&self, mismatch: &mut Mismatch) -> Result<(), FoldError> {
        // While a roll is due, only a roll is accepted.
        if self.before.due_roll().is_some() {
            mismatch.dice = Some(match self.dice {
                DicePolicy::Recorded | DicePolicy::Fair(_) => DiceFinding::RecordedValues,
                DicePolicy::Seeded(_) => DiceFinding::OtherRules,
            });
        }
        let (after, _) = self.play(self.entry.logged(), self.dice)?;
        let hash = self.entry.hash;
        mismatch.state = Some(if hash == Some(short_hash(after.as_ref())) {
            StateDifference::Equal
        } else if hash == Some(short_hash(self.before)) {
            StateDifference::FromExpected(fields(self.before, after.as_ref()))
        } else {
            StateDifference::OfEntry(fields(self.before, after.as_ref()))
        });
        Ok(())
    }

    /// Explains a roll that is not the one of the seed. Plays the file's values as recorded ones, and then the seed's
    /// values.
    fn wrong_roll(&self, mismatch: &mut Mismatch) -> Result<(), FoldError> {
        let (with_files, outcome) = self.play(self.entry.logged(), &DicePolicy::Recorded)?;
        let rules_agree = self.entry.outcome.as_ref().is_none_or(|own| Some(own) == outcome.as_ref())
            && self.entry.hash.is_none_or(|own| own == short_hash(with_files.as_ref()));
        mismatch.dice =
            Some(if rules_agree { DiceFinding::OtherValues } else { DiceFinding::OtherValuesAndRules });
        let values = self.before.seeded_roll(self.dice);
        let Some(command) = values.and_then(|values| self.before.roll_command(values)) else { return Ok(()) };
        let seeded = LogEntry { command: CommandForm::Text(command), ..self.entry.clone() };
        let (with_seeds, _) = self.play(seeded.logged(), self.dice)?;
        mismatch.state = Some(if rules_agree {
            StateDifference::FromExpected(fields(with_files.as_ref(), with_seeds.as_ref()))
        } else {
            StateDifference::OfEntry(fields(self.before, with_seeds.as_ref()))
        });
        Ok(())
    }

    /// Folds one entry into a copy of the state. Returns the copy and the outcome.
    fn play(
        &self,
        entry: Logged<'_>,
        dice: &DicePolicy,
    ) -> Result<(Box<dyn AnyState>, Option<Outcome>), FoldError> {
        let mut state = self.before.fork();
        let mut outcome = None;
        state.fold(&[entry], dice, &mut |step| outcome = Some(step.outcome()))?;
        Ok((state, outcome))
    }
}

fn fields(old: &dyn AnyState, new: &dyn AnyState) -> Vec<Difference> {
    differences(&view_of(old, Seat::Host), &view_of(new, Seat::Host))
}

fn short_hash(state: &dyn AnyState) -> ShortHash {
    state.state_hash().into()
}
