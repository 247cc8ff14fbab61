//! The future depends on the state alone: play continues in the same way however the state was reached.

use turnfold_core::{AnyRules, AnyState, DicePolicy, FoldError, Logged};

use super::law_report::{Law, LawReport};
use super::random_matches::{PlayedEntry, PlayedMatch, log_of, logged};
use super::{Moment, viewers};

/// Compares continuing from here with continuing from the state's bytes and from a copy.
pub(super) fn check(report: &mut LawReport<'_>, rules: &dyn AnyRules, moment: &Moment<'_>) {
    let Moment { played, step, state, .. } = *moment;
    let bytes = state.state_bytes();
    let rest = &played.entries[step..];
    report.doing("the rest of the log");
    match rules.resume(&bytes, state.rolls()) {
        Err(error) => report.broke(Law::Resuming, format!("its own bytes are refused: {error}")),
        Ok(resumed) => {
            report.expect(Law::Resuming, resumed.state_bytes() == bytes, || "its bytes are others".into());
            report.expect(Law::Resuming, resumed.state_hash() == state.state_hash(), || {
                "its hash is another".into()
            });
            check_rest(report, resumed, rest, &played.dice, "resumed");
        }
    }
    check_rest(report, state.fork(), rest, &played.dice, "copied");
    report
        .expect(Law::Resuming, state.state_bytes() == bytes, || "playing a copy changed the original".into());
    check_stop(report, state, rest, &played.dice);
    // turnfold, not the referee, decides which bytes are a state of a referee.
    if report.is_referee() {
        return;
    }
    let surplus = [bytes.as_slice(), &[0]].concat();
    let cut = bytes.split_last().map(|(_, cut)| cut).unwrap_or_default();
    for refused in [surplus.as_slice(), cut, &[]] {
        if refused == bytes {
            continue;
        }
        report.expect(Law::Resuming, rules.resume(refused, 0).is_err(), || {
            format!("a state of {} bytes is resumed from {}", bytes.len(), refused.len())
        });
    }
}

fn check_rest(
    report: &mut LawReport<'_>,
    mut state: Box<dyn AnyState>,
    rest: &[PlayedEntry],
    dice: &DicePolicy,
    how: &str,
) {
    let mut again = Vec::new();
    let folded = state.fold(&log_of(rest), dice, &mut |step| again.push(PlayedEntry::of(step)));
    if let Err(error) = folded {
        report.broke(Law::Resuming, format!("{how}, {error}"));
    } else if let Some((first, second)) = rest.iter().zip(&again).find(|(first, second)| first != second) {
        report.broke(Law::Resuming, format!("{how}, {first:?} becomes {second:?}"));
    }
}

/// A log that stops leaves the state as it was before the faulty entry.
fn check_stop(report: &mut LawReport<'_>, state: &dyn AnyState, rest: &[PlayedEntry], dice: &DicePolicy) {
    let Some(entry) = rest.first() else { return };
    let mut fork = state.fork();
    let folded = fork.fold(&[entry.logged(), logged(entry.seq + 1, entry.seat, "")], dice, &mut |_| {});
    let stopped = matches!(folded, Err(FoldError::Malformed { seq, .. }) if seq == entry.seq + 1);
    report.expect(Law::Resuming, stopped && fork.state_hash() == entry.hash, || {
        format!("a log that stops with a malformed command gives {folded:?} and {:.16}", fork.state_hash())
    });
}

/// Folds the whole log at once: without an observer, from bytes, and for every viewer.
pub(super) fn check_whole(report: &mut LawReport<'_>, rules: &dyn AnyRules, played: &PlayedMatch) {
    let Ok(start) = rules.start(&played.setup) else { return };
    let last = match played.entries.last() {
        Some(entry) => entry.hash,
        None => start.state_hash(),
    };
    let texts = log_of(&played.entries);
    let bytes: Vec<Logged<'_>> = played.entries.iter().map(PlayedEntry::logged_bytes).collect();
    report.doing("the whole log");
    for (law, how, log) in [(Law::Resuming, "text", &texts), (Law::BytesRoundTrip, "bytes", &bytes)] {
        let mut state = start.fork();
        let folded = state.fold(log, &played.dice, &mut |_| {});
        report.expect(law, folded.is_ok() && state.state_hash() == last, || {
            format!("as {how} it gives {folded:?} and {:.16}, not {last:.16}", state.state_hash())
        });
    }
    for viewer in viewers(&*start) {
        let mut state = start.fork();
        let mut shown = 0;
        let folded = state.fold_as(viewer, &texts, &played.dice, &mut |_| shown += 1);
        report.expect(
            Law::Resuming,
            folded.is_ok() && state.state_hash() == last && shown == texts.len(),
            || format!("for {viewer} it gives {folded:?} and {shown} of {} entries", texts.len()),
        );
    }
}
