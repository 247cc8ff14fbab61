//! A log gives the same result whether it is folded at once, in parts or entry by entry.

use turnfold_core::dice::DiceStream;
use turnfold_core::{AnyRules, AnyState, DicePolicy, Logged, Perspective, Seat, Step, Verdict};

use super::law_report::{Law, LawReport};
use super::not_hosts;
use super::random_matches::{PlayedEntry, PlayedMatch, log_of, logged};

/// The length of the log, if the game lasts that long or ignores some command.
const ENTRIES: usize = 1_000;
/// The length for a referee, which folds each entry nine times.
const ENTRIES_OF_REFEREE: usize = 250;

/// The compared parts of an entry as a viewer is shown it.
#[derive(Debug, PartialEq)]
struct ShownEntry {
    is_concealed: bool,
    is_whole: bool,
    command: String,
    stand_in: String,
    outcome: String,
}

pub(super) fn check(report: &mut LawReport<'_>, rules: &dyn AnyRules, played: &PlayedMatch) {
    let Ok(start) = rules.start(&played.setup) else { return };
    let count = if report.is_referee() { ENTRIES_OF_REFEREE } else { ENTRIES };
    let single = long_log(&*start, played, count);
    let log = log_of(&single);
    report.doing(format_args!("a log of {} entries", log.len()));
    let mut end = Vec::new();
    for (how, parts) in [("whole", vec![log.len()]), ("in parts", growing(log.len()))] {
        let mut state = start.fork();
        let mut again = Vec::new();
        let mut rest = log.as_slice();
        let mut failed = None;
        for part in parts {
            let (now, later) = rest.split_at(part);
            rest = later;
            let folded = state.fold(now, &played.dice, &mut |step| again.push(PlayedEntry::of(step)));
            failed = failed.or(folded.err());
        }
        let differs = single.iter().zip(&again).find(|(one, other)| one != other);
        if let Some((one, other)) = differs {
            report.broke(Law::Parts, format!("alone it is {one:?}, {how} {other:?}"));
        } else if failed.is_some() || single.len() != again.len() {
            report.broke(Law::Parts, format!("{how}, {} entries are folded, {failed:?}", again.len()));
        }
        let bytes = state.state_bytes();
        report.expect(Law::Parts, end.is_empty() || end == bytes, || {
            "whole and in parts, it leads to two states".into()
        });
        end = bytes;
    }
    for viewer in not_hosts(&*start) {
        let whole = shown(&*start, viewer, &end, &log, &played.dice, &[log.len()]);
        let parts = shown(&*start, viewer, &end, &log, &played.dice, &growing(log.len()));
        if let Some((one, other)) = whole.iter().zip(&parts).find(|(one, other)| one != other) {
            report.broke(Law::Parts, format!("{viewer} is shown {one:?} whole, {other:?} in parts"));
        }
    }
}

/// Repeats the ignored commands of a match and continues it at random, folding each entry alone.
fn long_log(start: &dyn AnyState, played: &PlayedMatch, count: usize) -> Vec<PlayedEntry> {
    let mut chance = DiceStream::new(&[played.seed; 32], 3);
    let mut state = start.fork();
    let mut log: Vec<PlayedEntry> = Vec::new();
    let ignored = played.entries.iter().filter(|entry| entry.verdict != Verdict::Applied(())).count();
    let spare = count.saturating_sub(played.entries.len());
    for entry in &played.entries {
        // An ignored command changes nothing, so it can be repeated any number of times.
        let is_ignored = entry.verdict != Verdict::Applied(());
        let repeated = if is_ignored { spare / ignored.max(1) } else { 0 };
        for _ in 0..=repeated {
            if !take(&mut log, &mut *state, entry.seat, &entry.command, &played.dice) {
                return log;
            }
        }
    }
    while log.len() < count
        && let Some((seat, command)) = next(&*state, &mut chance, &played.dice)
        && take(&mut log, &mut *state, seat, &command, &played.dice)
    {}
    log
}

/// Folds one more entry. Returns `false` if it is refused.
fn take(
    log: &mut Vec<PlayedEntry>,
    state: &mut dyn AnyState,
    seat: Seat,
    command: &str,
    dice: &DicePolicy,
) -> bool {
    let seq = u64::try_from(log.len()).unwrap() + 1;
    let entry = logged(seq, seat, command);
    state.fold(&[entry], dice, &mut |step| log.push(PlayedEntry::of(step))).is_ok()
}

fn next(state: &dyn AnyState, chance: &mut DiceStream, dice: &DicePolicy) -> Option<(Seat, String)> {
    if state.due_roll().is_some() {
        return Some((Seat::Host, state.roll_command(state.seeded_roll(dice)?)?));
    }
    state.random_command(chance)
}

/// Splits a number into 1, 2, 3 and so on, and the remainder.
fn growing(count: usize) -> Vec<usize> {
    let mut parts = Vec::new();
    let mut rest = count;
    while rest > 0 {
        let part = rest.min(parts.len() + 1);
        parts.push(part);
        rest -= part;
    }
    parts
}

/// Returns what a viewer is shown of a log that is folded in parts of these lengths.
fn shown(
    start: &dyn AnyState,
    viewer: Perspective,
    now: &[u8],
    log: &[Logged<'_>],
    dice: &DicePolicy,
    parts: &[usize],
) -> Vec<ShownEntry> {
    let mut state = start.fork();
    let mut shown = Vec::new();
    let mut rest = log;
    for part in parts {
        let (these, later) = rest.split_at(*part);
        rest = later;
        let observe = &mut |step: &mut dyn Step| {
            let outcome = step.outcome().to_string();
            shown.push(ShownEntry {
                is_concealed: step.concealed(),
                is_whole: step.wholly_shown(),
                command: step.command(),
                stand_in: step.stand_in(),
                outcome,
            });
        };
        if state.fold_as_at(viewer, now, these, dice, observe).is_err() {
            break;
        }
    }
    shown
}
