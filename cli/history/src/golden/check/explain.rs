//! Explains a mismatch: the rules behind it, whether dice or rules differ, and how the states differ.

use turnfold_core::{AnyRules, AnyState, DicePolicy, FoldError, Logged, Seat, Step};

use super::mismatch::{DiceFinding, Mismatch, StateDifference};
use crate::compare::difference::{Difference, view_of};
use crate::compare::divergence::{DivergenceKind, Subject};
use crate::history::entry::{CommandForm, LogEntry, ShortHash};
use crate::tfl::{Replay, TflError};

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
    state
        .fold(&LogEntry::all_logged(before), &replay.header.dice, &mut |_| {})
        .map_err(|error| replay.locate(&error))?;
    let dice = &replay.header.dice;
    let explained = match kind {
        DivergenceKind::WrongRoll => wrong_roll(state.as_ref(), entry, dice, mismatch),
        _ => other_outcome(state.as_ref(), entry, dice, mismatch),
    };
    explained.map_err(|error| replay.locate(&error))
}

pub(super) fn name_rules(rules: &dyn AnyRules, mismatch: &mut Mismatch) {
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
    let hash = entry.hash;
    mismatch.state = Some(if hash == Some(short_hash(after.as_ref())) {
        StateDifference::Equal
    } else if hash == Some(short_hash(before)) {
        StateDifference::FromExpected(fields(before, after.as_ref()))
    } else {
        StateDifference::OfEntry(fields(before, after.as_ref()))
    });
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
        StateDifference::FromExpected(fields(with_files.as_ref(), with_seeds.as_ref()))
    } else {
        StateDifference::OfEntry(fields(before, with_seeds.as_ref()))
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
    Difference::between(&view_of(old, Seat::Host), &view_of(new, Seat::Host))
}

fn short_hash(state: &dyn AnyState) -> ShortHash {
    state.state_hash().into()
}
